import { describe, expect, it } from "vitest";
import type { Sight } from "../src/cameras";
import { filmCamera } from "../src/exporting";

const still: Sight = { eye: [4, 0, 2], target: [1, 0, 0], verticalView: 0.75 };
const carried: Sight = { ...still, along: { robot: "quad", eye: [3, 0, 1], target: [0, 0, -1] } };
const here = { eye: [4, 0, 2], target: [1, 0, 0], vertical_view: 0.75 };

describe("the camera of a film", () => {
  it("goes along with a robot as a free eye does in the page", () => {
    expect(filmCamera(carried, { name: "orbit", robot: "quad" }, false)).toEqual({
      robot: "quad",
      eye: [3, 0, 1],
      target: [0, 0, -1],
      vertical_view: 0.75,
      along: true,
    });
  });

  it("stands where the page's eye stands, and where it is asked to stand", () => {
    expect(filmCamera(still, { name: "orbit", robot: "quad" }, false)).toEqual(here);
    expect(filmCamera(carried, { name: "orbit", robot: "quad" }, true)).toEqual(here);
    expect(filmCamera(still, { name: "fixed", robot: "quad" }, false)).toEqual(here);
    expect(filmCamera(still, { name: "chase", robot: "quad" }, true)).toEqual(here);
  });

  it("is named where the lab knows how it moves", () => {
    expect(filmCamera(still, { name: "chase", robot: "quad" }, false)).toEqual({ name: "chase", robot: "quad" });
    expect(filmCamera(still, { name: "field", robot: null }, false)).toEqual({ name: "field" });
    const follow = { name: "follow", robot: "quad" };
    expect(filmCamera(still, follow, false)).toEqual({ ...follow, ...here });
  });
});
