import { afterEach, describe, expect, it } from "vitest";
import { grouped, groupTitle, labelOf, overrides, parseField, shown, Typed, type Value } from "../src/forms";
import { setLanguage } from "../src/i18n";
import { groupScenarios } from "../src/library";
import { when } from "../src/recordings";
import { groupChannels } from "../src/numbers";
import type { ChannelInfo, FormField, SceneDescription, SceneLayer } from "../src/protocol";
import { componentName, componentUnit, sceneChannels } from "../src/source";
import { initialState, Store } from "../src/state";

const field = (changes: Partial<FormField>): FormField => ({
  key: "time.duration",
  label: "duration",
  unit: "s",
  kind: "number",
  value: 10,
  minimum: null,
  maximum: null,
  choices: null,
  help: "",
  ...changes,
});

afterEach(() => setLanguage("en"));

describe("fields", () => {
  it("have labels and groups in the chosen language, with names as the scenario has them", () => {
    const pose = field({ key: "robots.duration.pose.2", label: "pose heading", part: "heading" });
    const command = field({ key: "controllers.c.command.left/speed", label: "command left/speed", part: "left/speed" });
    expect([field({}), pose, command].map(labelOf)).toEqual(["duration", "pose heading", "command left/speed"]);
    expect(groupTitle("robots.duration")).toBe("robots › duration");
    setLanguage("pt-BR");
    expect([field({}), pose, command].map(labelOf)).toEqual(["duração", "pose: direção", "comando left/speed"]);
    expect(groupTitle("robots.duration")).toBe("robôs › duration");
    expect(groupTitle("world.terrain")).toBe("mundo › terreno");
    expect(groupTitle("robots.vivi.properties")).toBe("robôs › vivi › propriedades");
  });

  it("take numbers with point or comma, inside their limits", () => {
    const limited = field({ minimum: 0, maximum: 20 });
    expect(parseField(limited, " 2,5 ")).toEqual({ ok: true, value: 2.5 });
    expect(parseField(limited, "1e1")).toEqual({ ok: true, value: 10 });
    for (const wrong of ["", "abc", "-1", "21", "Infinity", "1.2.3"])
      expect(parseField(limited, wrong).ok, wrong).toBe(false);
    expect(parseField(limited, "21")).toEqual({ ok: false, problem: "At most 20." });
  });

  it("take whole numbers, choices, switches and words", () => {
    expect(parseField(field({ kind: "integer" }), "2.5").ok).toBe(false);
    expect(parseField(field({ kind: "integer" }), "7")).toEqual({ ok: true, value: 7 });
    const choice = field({ kind: "choice", choices: ["flat", "rough", 3], value: "flat" });
    expect(parseField(choice, "3")).toEqual({ ok: true, value: 3 });
    expect(parseField(choice, "lava").ok).toBe(false);
    expect(parseField(field({ kind: "boolean" }), "true")).toEqual({ ok: true, value: true });
    expect(parseField(field({ kind: "text" }), " a b ")).toEqual({ ok: true, value: "a b" });
    expect(parseField(field({ value: null }), "")).toEqual({ ok: true, value: null });
  });

  it("send only what differs", () => {
    const fields = [
      field({}),
      field({ key: "seed", kind: "integer", value: 1 }),
      field({ key: "x", kind: "boolean", value: false }),
    ];
    const values = new Map<string, Value>([
      ["time.duration", 10],
      ["seed", 2],
      ["x", true],
    ]);
    expect(overrides(fields, values)).toEqual({ seed: 2, x: true });
  });

  it("stand under the heads of their keys", () => {
    const keys = ["time.duration", "seed", "robots.vivi.pose.0", "robots.vivi.pose.1", "controllers.drive.speed"];
    const groups = grouped(keys.map((key) => field({ key })));
    expect([...groups.keys()]).toEqual(["", "robots.vivi", "controllers.drive"]);
    expect(groups.get("robots.vivi")!.length).toBe(2);
  });

  it("show numbers without the noise of their binary form", () => {
    expect(shown(0.1 + 0.2)).toBe("0.3");
    expect(shown(null)).toBe("");
    expect(shown(12)).toBe("12");
    setLanguage("pt-BR");
    expect(shown(-0.675)).toBe("-0,675");
    expect(parseField(field({}), shown(-0.675))).toEqual({ ok: true, value: -0.675 });
  });

  it("of a robot's properties are a group of their own", () => {
    const pose = field({ key: "robots.vivi.pose.0" });
    const mass = field({ key: "robots.vivi.wheels.*.tyre.static", group: "properties" });
    expect([...grouped([field({}), pose, mass]).keys()]).toEqual(["", "robots.vivi", "robots.vivi.properties"]);
  });

  it("remember what was typed, those of the ground per type of ground", () => {
    const typed = new Typed();
    typed.on("ramp");
    typed.set("world.terrain.height", "0.5");
    typed.set("robots.vivi.chassis.mass", "50 kg");
    typed.set("world.terrain.type", "step");
    typed.on("step");
    expect(typed.get("world.terrain.height")).toBeUndefined();
    expect(typed.get("world.terrain.type")).toBeUndefined();
    expect(typed.get("robots.vivi.chassis.mass")).toBe("50 kg");
    typed.on("ramp");
    expect(typed.get("world.terrain.height")).toBe("0.5");
  });

  it("take values with a unit of their own, and nothing that must be greater", () => {
    const duration = {
      key: "time.duration", label: "duration", unit: "s", kind: "number", value: 10, minimum: null, maximum: null,
      above: 0, choices: null, help: "",
    } as FormField;
    expect(parseField(duration, "2 min")).toEqual({ ok: true, value: "2 min" });
    expect(parseField(duration, "2,5min")).toEqual({ ok: true, value: "2.5 min" });
    for (const typed of ["0", "-1", "0 min"]) {
      expect(parseField(duration, typed)).toEqual({ ok: false, problem: "Greater than 0." });
    }
    expect(parseField({ ...duration, above: 5 }, "1 h").ok).toBe(true); // 1 is not above 5, an hour may be
    expect(parseField({ ...duration, above: null, maximum: 2.5 }, "3")).toEqual({ ok: false, problem: "At most 2.5." });
    expect(parseField({ ...duration, unit: "" }, "2 min").ok).toBe(false);
  });
});

describe("lists", () => {
  const scenarios = [
    { name: "vivi-rough", engine: "vehicle", description: "VIVI on rough ground" },
    { name: "soccer-five", engine: "soccer", description: "" },
    { name: "mine/test.yaml", engine: "vehicle", description: "" },
  ];

  it("group scenarios by engine, files first, and search in all their words", () => {
    expect([...groupScenarios(scenarios, "").keys()]).toEqual(["files", "vehicle", "soccer"]);
    expect([...groupScenarios(scenarios, "ROUGH vivi").values()].flat().map((one) => one.name)).toEqual(["vivi-rough"]);
    expect(groupScenarios(scenarios, "zzz").size).toBe(0);
  });

  it("tell the time of today, the date of another day", () => {
    const now = new Date(2026, 4, 3, 12, 0);
    expect(when(new Date(2026, 4, 3, 9, 5, 7).toISOString(), now)).toBe("09:05:07");
    expect(when(new Date(2026, 4, 2, 9, 5, 41).toISOString(), now)).toBe("2026-05-02 09:05:41");
    expect(when("long ago")).toBe("long ago");
  });

  const channels: ChannelInfo[] = [
    ["vivi/pose", "m, m, rad", "true pose", ["x", "y", "heading"]],
    ["vivi/wheels/left/speed", "rad/s", "rotation speed", []],
    ["ball/position", "m", "", ["x", "y"]],
  ];

  it("group channels by robot and search in names, units and descriptions", () => {
    expect([...groupChannels(channels, "").keys()]).toEqual(["vivi", "ball"]);
    expect([...groupChannels(channels, "rad/s rotation").values()].flat().map((one) => one[0])).toEqual([
      "vivi/wheels/left/speed",
    ]);
  });

  it("give each component its unit and name", () => {
    expect(componentUnit(channels[0]!, 2)).toBe("rad");
    expect(componentUnit(channels[2]!, 1)).toBe("m");
    expect(componentUnit(["a", "1", "", []], 0)).toBe("");
    expect(componentName(channels[0]!, 2)).toBe("vivi/pose · heading");
    expect(componentName(channels[1]!, 0)).toBe("vivi/wheels/left/speed");
  });
});

describe("what is asked of the server", () => {
  const layer: Omit<SceneLayer, "name" | "channels"> = { texts: { en: ["", ""] }, on: false, colour: "", unit: "", longest: 1, least: 1, marks: [] };
  const scene = {
    nodes: [],
    channels: ["a/pose"],
    actors: [],
    cameras: [],
    indicators: [{ kind: "score", robot: "", channel: "score" }],
    layers: [
      { ...layer, name: "velocity", channels: ["a/twist", "c"] },
      { ...layer, name: "lateral", channels: ["c", "n"] },
    ],
    centre: [0, 0, 0],
    radius: 1,
    indoors: false,
  } satisfies SceneDescription;

  it("is what the picture and the switched-on layers need", () => {
    expect(sceneChannels(scene, new Set())).toEqual(["a/pose", "score"]);
    expect(sceneChannels(scene, new Set(["velocity"]))).toEqual(["a/pose", "a/twist", "c", "score"]);
    expect(sceneChannels(scene, new Set(["velocity", "lateral"]))).toEqual(["a/pose", "a/twist", "c", "n", "score"]);
  });
});

describe("state", () => {
  it("tells listeners once of several changes, and not of none", async () => {
    const store = new Store(initialState());
    let told = 0;
    const off = store.on(["time", "mode"], () => (told += 1));
    expect(told).toBe(1);
    store.set({ time: 1 });
    store.set({ time: 2, mode: "live" });
    await Promise.resolve();
    expect(told).toBe(2);
    store.set({ time: 2, camera: "chase" });
    await Promise.resolve();
    expect(told).toBe(2);
    off();
    store.set({ time: 3 });
    await Promise.resolve();
    expect(told).toBe(2);
  });
});
