import { describe, expect, it } from "vitest";
import { comparable } from "../src/compare";
import type { RecordingInfo } from "../src/protocol";

const recorded = (id: string, scenario: string, duration = 5): RecordingInfo => ({
  id,
  scenario,
  engine: scenario === "soccer" ? "soccer" : "vehicle",
  started: "2026-01-02T10:00:00",
  duration,
  status: "finished",
});
const all = [
  recorded("a-1", "soccer"),
  recorded("b-1", "vivi-rough"),
  recorded("b-2", "vivi-rough"),
  recorded("b-3", "vivi-rough", 0),
  recorded("c-1", "vivi-step"),
];
const shown = { recording: "b-1", scenario: "vivi-rough", chosen: [] as string[] };
const ids = (search: string, chosen: string[] = []): string[] =>
  comparable(all, { ...shown, chosen }, search).map((one) => one.id);

describe("recordings to compare with", () => {
  it("are all others that have a length, those of the same scenario first", () => {
    expect(ids("")).toEqual(["b-2", "a-1", "c-1"]);
  });

  it("are narrowed by words in any order, and never lose a chosen one", () => {
    expect(ids("VEHICLE vivi")).toEqual(["b-2", "c-1"]);
    expect(ids("step")).toEqual(["c-1"]);
    expect(ids("step", ["a-1"])).toEqual(["a-1", "c-1"]);
    expect(ids("nothing of this")).toEqual([]);
    const named = comparable([{ ...all[1]!, name: "Órbita", changes: [["seed", 1, 9]] }], { ...shown, recording: null }, "orbita seed");
    expect(named).toHaveLength(1);
  });
});
