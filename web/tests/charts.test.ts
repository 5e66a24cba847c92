import { afterEach, describe, expect, it } from "vitest";
import { heights } from "../src/chart";
import { setLanguage } from "../src/i18n";
import { plain } from "../src/legend";

describe("the height of a plot", () => {
  it("fits what moves, with some room", () => {
    const [low, high] = heights(-2.3, 4.1) as [number, number];
    expect(low).toBeLessThanOrEqual(-2.3);
    expect(high).toBeGreaterThanOrEqual(4.1);
    expect(high - low).toBeLessThan(12);
  });

  it("puts what does not move in the middle, also nothing at all", () => {
    expect(heights(0, 0)).toEqual([-1, 1]);
    expect(heights(-0.02, -0.02)).toEqual([-0.04, 0]);
    expect(heights(null, null)).toEqual([null, null]);
  });
});

describe("the legend", () => {
  afterEach(() => setLanguage("en"));

  it("has round numbers with no more places than they need", () => {
    expect([0.02, 0.5, 1, 2, 200, 5000].map(plain)).toEqual(["0.02", "0.5", "1", "2", "200", "5000"]);
  });

  it("has the decimal sign of the language", () => {
    setLanguage("pt-BR");
    expect(plain(0.5)).toBe("0,5");
  });
});
