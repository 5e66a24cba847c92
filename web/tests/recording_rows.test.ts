import { describe, expect, it } from "vitest";
import { failureOf } from "../src/dialogs";
import { progressLine } from "../src/exporting";
import type { Change } from "../src/protocol";
import { changesLine, changesTip, searchable, titleOf } from "../src/recordings";
import { fits } from "../src/search";

describe("recordings in the list", () => {
  it("tells a few changes and counts the rest", () => {
    expect(changesLine([["time.duration", 10, 5]])).toBe("duration = 5");
    const many = ["a", "b", "c", "d", "e"].map((key): [string, null, string] => [`robots.${key}`, null, key]);
    expect(changesLine(many)).toBe("a = a, b = b, c = c, + 2");
    expect(changesTip([["seed", 1, null]])).toBe("seed: 1 → –");
  });

  it("finds them by name and by what was changed", () => {
    const one = { id: "x", scenario: "soccer", engine: "", started: "", duration: 1, status: "finished" };
    const named = { ...one, name: "Bom braço", changes: [["a.mass", 1, 2], ["seed", 1, 77]] as Change[] };
    expect([titleOf(one), titleOf(named)]).toEqual(["soccer", "Bom braço"]);
    for (const search of ["", "BRACO bom ", "seed = 77", "soccer braço", "a.mass"]) {
      expect(fits(searchable(named), search)).toBe(true);
    }
    expect(fits(searchable(named), "braço 78")).toBe(false);
    const many = ["a", "b", "c", "d", "e"].map((key): Change => [`robots.${key}`, null, key]);
    expect(fits(searchable({ ...one, changes: many }), "robots.e")).toBe(true); // only counted in the list
  });

  it("tells the time left of an export where it is known", () => {
    expect(progressLine({ status: "running", progress: 0.25, left: 61.2, error: null }, 2)).toMatch(/^25 % · .*1:02.* left$/);
    const ready = progressLine({ status: "running", progress: 0, left: null, error: null }, 2);
    const waiting = progressLine({ status: "waiting", progress: 0, left: null, error: null }, 2);
    expect([ready, waiting]).toEqual(["getting ready …", "waiting …"]);
    expect(progressLine({ status: "running", progress: 0.1, left: null, error: null }, 2)).not.toContain("left");
  });

  it("finds why a run failed at the end of its log", () => {
    const failed: [number, string, string] = [1, "error", "controller failed\nTraceback:\n  line 8"];
    expect(failureOf([[0, "info", "a\nb"], failed])).toEqual(["controller failed", "Traceback:\n  line 8"]);
    expect(failureOf([failed, [2, "info", "goes on"]])).toBeNull();
    expect(failureOf([[1, "error", "diverged"]])).toBeNull();
    expect(failureOf([])).toBeNull();
  });
});
