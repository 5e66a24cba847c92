import { describe, expect, it } from "vitest";
import { ArrowScale, niceAbove } from "../src/scales";

describe("scales of arrows", () => {
  it("are round numbers", () => {
    expect([0.7, 1, 1.2, 3, 7, 130, 0.012].map(niceAbove)).toEqual([1, 1, 2, 5, 10, 200, 0.02]);
    expect(niceAbove(NaN)).toBe(1);
  });

  it("make the longest arrow about as long as asked, and do not breathe", () => {
    const scale = new ArrowScale(0.5, 0.01);
    scale.see(90, 0);
    expect(scale.perMetre).toBe(200);
    expect(scale.metres(90)).toBeLessThanOrEqual(0.5);
    for (let t = 0; t < 10; t += 0.1) scale.see(80 + 15 * Math.sin(t), t);
    expect(scale.perMetre).toBe(200);
    scale.see(1000, 10);
    expect(scale.perMetre).toBe(2000);
  });

  it("shrink when what was great is long gone", () => {
    const scale = new ArrowScale(1, 0.01);
    scale.see(1000, 0);
    for (let t = 1; t < 300; t++) scale.see(1, t);
    expect(scale.perMetre).toBeLessThan(10);
  });
});
