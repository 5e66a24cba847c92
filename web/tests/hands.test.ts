import { describe, expect, it } from "vitest";
import { fittingActions, GamepadReader } from "../src/gamepad";
import {
  beyondDeadZone,
  commandOf,
  defaultMapping,
  Driver,
  fittingMapping,
  isIdle,
  padButtons,
  padSourceId,
  padSources,
  type Command,
  type HandsInput,
} from "../src/hands";
import { shortcutOf, SHORTCUTS } from "../src/keyboard";
import type { ClientMessage, RobotInfo } from "../src/protocol";
import { deflection } from "../src/sticks";

const robot = (hands: RobotInfo["hands"], axes: string[], modes = ["drive"]): RobotInfo => ({
  name: "r",
  hands,
  modes,
  axes,
  note: "",
});
const tank = robot("tank", ["forward", "turn", "left", "right"], ["drive", "tank"]);
const arm = robot("arm", ["x", "y", "z", "roll", "pitch", "yaw"], ["tool"]);
const input = (changes: Partial<HandsInput> & { codes?: string[] }): HandsInput => ({
  keys: new Set(changes.codes ?? []),
  pad: null,
  sticks: null,
  held: new Set(),
  ...changes,
});

describe("mapping", () => {
  it("drives ahead and to the left with W and A", () => {
    const mapping = defaultMapping(tank, "drive");
    expect(commandOf(mapping, input({ codes: ["KeyW", "KeyA"] })).axes).toEqual({ forward: 1, turn: 1 });
    expect(commandOf(mapping, input({ codes: ["KeyW", "KeyS"] })).axes).toEqual({ forward: 0, turn: 0 });
    expect(commandOf(mapping, input({ codes: ["ArrowDown"] }), 0.4).axes).toEqual({ forward: -0.4, turn: 0 });
  });

  it("has the axes of the mode", () => {
    expect(Object.keys(defaultMapping(tank, "tank").axes)).toEqual(["left", "right"]);
    expect(Object.keys(defaultMapping(robot("omni", ["forward", "side"]), "drive").axes)).toEqual(["forward", "side"]);
  });

  it("leaves axes that it does not know to the user", () => {
    const mapping = defaultMapping(robot("planar", ["forward", "turn", "wiggle"]), "drive");
    expect(mapping.axes.wiggle).toMatchObject({ plus: [], minus: [], pad: null });
  });

  it("turns the pad's axes round: pushed ahead and to the left is positive", () => {
    const mapping = defaultMapping(tank, "drive");
    const { axes } = commandOf(mapping, input({ pad: { axes: [0, -1, -1, 0], buttons: [] } }));
    expect(axes).toEqual({ forward: 1, turn: 1 });
    const flight = defaultMapping(robot("flight", ["forward", "side", "up", "turn"], ["fly"]), "fly");
    expect(commandOf(flight, input({ pad: { axes: [1, -1, -1, 1], buttons: [] } })).axes).toEqual({
      forward: -1,
      side: 1,
      up: 1,
      turn: -1,
    });
  });

  it("pulls a plane's nose up with the stick back", () => {
    const mapping = defaultMapping(robot("plane", ["pitch", "roll", "throttle"], ["fly"]), "fly");
    const { axes } = commandOf(mapping, input({ pad: { axes: [0, 0, 1, 1], buttons: [] } }));
    expect(axes).toMatchObject({ pitch: 1, roll: 1 });
    const sticks = { "left-x": 0, "left-y": 1, "right-x": 0, "right-y": -1 };
    expect(commandOf(mapping, input({ sticks })).axes).toEqual({ pitch: 1, roll: 0, throttle: 1 });
  });

  it("holds the clutch by key, pad or screen", () => {
    const mapping = defaultMapping(arm, "tool");
    expect(commandOf(mapping, input({ codes: ["ShiftLeft", "KeyR"] }))).toMatchObject({
      axes: { z: 1 },
      buttons: { clutch: true },
    });
    expect(commandOf(mapping, input({ held: new Set(["clutch"]) })).buttons.clutch).toBe(true);
    expect(commandOf(mapping, input({ pad: { axes: [], buttons: [0, 0, 0, 0, 1] } })).buttons.clutch).toBe(true);
    expect(commandOf(mapping, input({})).buttons.clutch).toBe(false);
  });

  it("binds no key twice, and none that is a shortcut", () => {
    for (const one of [tank, arm, robot("flight", []), robot("plane", []), robot("omni", [])]) {
      for (const mode of one.modes) {
        const mapping = defaultMapping(one, mode);
        const codes = [
          ...Object.values(mapping.axes).flatMap((axis) => [...axis.plus, ...axis.minus]),
          ...Object.values(mapping.buttons).flatMap((button) => button.keys),
        ];
        expect(new Set(codes).size, `${one.hands} ${mode}`).toBe(codes.length);
        for (const code of codes) expect(shortcutOf({ code, key: "", shiftKey: false }), code).toBeNull();
      }
    }
  });

  it("keeps what a user changed, and survives what is broken", () => {
    const mapping = defaultMapping(tank, "drive");
    mapping.axes.forward = { ...mapping.axes.forward!, plus: ["KeyI"], padInvert: false };
    const back = fittingMapping(tank, "drive", JSON.parse(JSON.stringify(mapping)));
    expect(commandOf(back, input({ codes: ["KeyI"] })).axes.forward).toBe(1);
    expect(commandOf(back, input({ codes: ["KeyW"] })).axes.forward).toBe(0);
    for (const broken of [null, 3, { axes: { forward: { plus: "KeyI" } } }, { axes: 1, buttons: [] }]) {
      expect(fittingMapping(tank, "drive", broken)).toEqual(defaultMapping(tank, "drive"));
    }
  });

  it("names each pad source once", () => {
    for (const { id, source } of padSources()) expect(padSourceId(source)).toBe(id);
  });
});

describe("dead zone and sticks", () => {
  it("begins at zero behind the slack and ends at one", () => {
    expect(beyondDeadZone(0.1)).toBe(0);
    expect(beyondDeadZone(-0.09)).toBe(0);
    expect(beyondDeadZone(0.55)).toBeCloseTo(0.5);
    expect(beyondDeadZone(-1.2)).toBe(-1);
    expect(beyondDeadZone(NaN)).toBe(0);
  });

  it("stays within the circle, up positive", () => {
    expect(deflection(0, -30, 60)).toEqual([0, 0.5]);
    const [x, y] = deflection(300, 400, 50);
    expect([x, y]).toEqual([0.6, -0.8]);
    expect(deflection(0, 0, 50)).toEqual([0, 0]);
  });
});

describe("driving messages", () => {
  const drive = (forward: number): Command => ({ axes: { forward, turn: 0 }, buttons: {} });
  const target = { run: "1", robot: "r", mode: "drive" };
  const made = (): { driver: Driver; sent: ClientMessage[] } => {
    const sent: ClientMessage[] = [];
    const driver = new Driver((message) => sent.push(message));
    driver.aim(target, 0);
    return { driver, sent };
  };

  it("sends a key at once, keeps it alive, and ends with zero and release", () => {
    const { driver, sent } = made();
    driver.update(drive(1), 1000, true);
    expect(sent).toEqual([{ t: "drive", ...target, axes: { forward: 1, turn: 0 }, buttons: {}, seq: 1 }]);
    for (let ms = 1005; ms <= 1100; ms += 5) driver.update(drive(1), ms);
    expect(sent.length).toBe(3);
    driver.update(drive(0), 1110, true);
    expect(sent.slice(3).map((one) => one.t)).toEqual(["drive", "release"]);
    expect(sent[3]).toMatchObject({ axes: { forward: 0 }, seq: 4 });
    driver.update(drive(0), 1130);
    expect(sent.length).toBe(5);
  });

  it("sends a moving stick at most fifty times a second", () => {
    const { driver, sent } = made();
    for (let ms = 0; ms < 1000; ms += 1) driver.update(drive(0.1 + ms / 2000), ms);
    expect(sent.length).toBeLessThanOrEqual(56);
    expect(sent.length).toBeGreaterThan(40);
  });

  it("stops at once and waits until the hands have rested", () => {
    const { driver, sent } = made();
    driver.update(drive(1), 0);
    expect(driver.stop(10)).toBe(true);
    expect(sent.map((one) => one.t)).toEqual(["drive", "drive", "release"]);
    driver.update(drive(1), 50, true);
    expect(sent.length).toBe(3);
    driver.update(drive(0), 60);
    driver.update(drive(1), 80, true);
    expect(sent.length).toBe(4);
  });

  it("releases the robot that it leaves for another one", () => {
    const { driver, sent } = made();
    driver.update(drive(1), 0);
    driver.aim({ ...target, robot: "other" }, 10);
    expect(sent[1]).toMatchObject({ robot: "r", axes: { forward: 0 } });
    expect(sent[2]).toEqual({ t: "release", run: "1" });
    driver.update(drive(1), 40);
    expect(sent[3]).toMatchObject({ robot: "other" });
  });

  it("counts a held clutch as driving", () => {
    expect(isIdle({ axes: { x: 0 }, buttons: { clutch: true } })).toBe(false);
  });
});

describe("gamepad", () => {
  const pad = (pressed: number[] = [], axes = [0, 0, 0, 0]) => ({
    id: "Pad",
    index: 1,
    connected: true,
    axes,
    buttons: Array.from({ length: 17 }, (_, index) => ({
      pressed: pressed.includes(index),
      value: pressed.includes(index) ? 1 : 0,
    })),
  });

  it("tells of pads that come and go, and of buttons once per press", () => {
    const heard: string[] = [];
    let now: (ReturnType<typeof pad> | null)[] = [];
    const reader = new GamepadReader(
      {
        connected: () => heard.push("came"),
        disconnected: () => heard.push("went"),
        action: (action) => heard.push(action),
      },
      () => now,
    );
    expect(reader.poll()).toBeNull();
    now = [null, pad([3])];
    reader.poll();
    expect(heard).toEqual(["came"]); // a button that was down already is no command
    now = [null, pad()];
    reader.poll();
    now = [null, pad([3, 9])];
    reader.poll();
    reader.poll();
    expect(heard).toEqual(["came", "nextCamera", "pause"]);
    now = [null, null];
    expect(reader.poll()).toBeNull();
    expect(heard.at(-1)).toBe("went");
  });
});

describe("shortcuts", () => {
  it("go by the key that is printed for signs, by its place for letters", () => {
    expect(shortcutOf({ code: "Slash", key: "?", shiftKey: true })).toBe("help");
    expect(shortcutOf({ code: "BracketRight", key: "+", shiftKey: false })).toBe("faster");
    expect(shortcutOf({ code: "KeyV", key: "V", shiftKey: true })).toBe("previousCamera");
    expect(shortcutOf({ code: "KeyV", key: "v", shiftKey: false })).toBe("nextCamera");
    expect(shortcutOf({ code: "KeyW", key: "w", shiftKey: false })).toBeNull();
  });

  it("do each action once", () => {
    const actions = SHORTCUTS.map((one) => one.action);
    expect(new Set(actions).size).toBe(actions.length);
  });
});

describe("buttons of a pad", () => {
  it("can each be chosen, or none, and several stay as they are", () => {
    expect(padButtons([4, 5]).slice(0, 3)).toEqual([
      { id: "", buttons: [], label: null },
      { id: "4,5", buttons: [4, 5], label: "LB / RB" },
      { id: "0", buttons: [0], label: "A" },
    ]);
    expect(padButtons([2])).toHaveLength(17);
  });

  it("command what was chosen for them", () => {
    const acted: string[] = [];
    const events = { connected: () => {}, disconnected: () => {}, action: (action: string) => acted.push(action) };
    let down = -1;
    const buttons = () => Array.from({ length: 16 }, (_, index) => ({ value: 0, pressed: index === down }));
    const reader = new GamepadReader(events, () => [
      { id: "pad", index: 0, connected: true, axes: [0, 0], buttons: buttons() },
    ]);
    reader.actions = fittingActions({ halt: 6, pause: -1, reset: "x" });
    for (down of [-1, 1, 6, 8, 9]) reader.poll();
    expect(acted).toEqual(["halt", "reset"]);
  });
});
