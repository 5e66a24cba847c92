// From keys, pads and thumb sticks to the axes of a robot, and from axes to driving messages.
import type { ClientMessage, RobotInfo } from "./protocol";

export type StickAxis = "left-x" | "left-y" | "right-x" | "right-y";

/** Where a gamepad gives a number: an axis, or two buttons against each other (triggers count by their depth). */
export type PadSource = { axis: number } | { plus: number; minus: number };

export interface Binding {
  /** Key codes (KeyboardEvent.code) that give +1 and −1. */
  plus: string[];
  minus: string[];
  pad: PadSource | null;
  padInvert: boolean;
  stick: StickAxis | null;
  stickInvert: boolean;
}

export interface ButtonBinding {
  keys: string[];
  pad: number[];
}

export interface Mapping {
  axes: Record<string, Binding>;
  buttons: Record<string, ButtonBinding>;
}

function bound(
  plus: string[],
  minus: string[],
  padAxis: number | null,
  padInvert: boolean,
  stick: StickAxis | null,
  stickInvert = false,
): Binding {
  return { plus, minus, pad: padAxis === null ? null : { axis: padAxis }, padInvert, stick, stickInvert };
}

// A pad's axes: 0 and 1 the left stick (right, down), 2 and 3 the right one. Ours: ahead, left and up are positive.
const AHEAD = bound(["KeyW", "ArrowUp"], ["KeyS", "ArrowDown"], 1, true, "left-y");
const SIDE = bound(["KeyA"], ["KeyD"], 0, true, "left-x", true);
const TURN = bound(["KeyA", "ArrowLeft"], ["KeyD", "ArrowRight"], 2, true, "right-x", true);
const TURN_BESIDE = bound(["KeyQ", "ArrowLeft"], ["KeyE", "ArrowRight"], 2, true, "right-x", true);
const RISE = bound(["KeyR"], ["KeyF"], 3, true, "right-y");
const TRIGGERS: PadSource = { plus: 7, minus: 6 };

const DRIVE: Record<string, Binding> = { forward: AHEAD, turn: TURN };

const AXES: Record<string, Record<string, Binding>> = {
  planar: DRIVE,
  soccer: DRIVE,
  "tank:drive": DRIVE,
  "tank:tank": {
    left: bound(["KeyW"], ["KeyS"], 1, true, "left-y"),
    right: bound(["ArrowUp"], ["ArrowDown"], 3, true, "right-y"),
  },
  omni: { forward: AHEAD, side: SIDE, turn: TURN_BESIDE },
  flight: {
    // The pilots' usual arrangement: height and heading on the left stick, ways on the right one.
    forward: bound(["KeyW", "ArrowUp"], ["KeyS", "ArrowDown"], 3, true, "right-y"),
    side: bound(["KeyA"], ["KeyD"], 2, true, "right-x", true),
    up: bound(["KeyR"], ["KeyF"], 1, true, "left-y"),
    turn: bound(["KeyQ", "ArrowLeft"], ["KeyE", "ArrowRight"], 0, true, "left-x", true),
  },
  plane: {
    pitch: bound(["KeyS", "ArrowDown"], ["KeyW", "ArrowUp"], 3, false, "right-y", true),
    roll: bound(["KeyD", "ArrowRight"], ["KeyA", "ArrowLeft"], 2, false, "right-x"),
    throttle: bound(["KeyR"], ["KeyF"], 1, true, "left-y"),
  },
  arm: {
    x: { ...AHEAD, plus: ["KeyW"], minus: ["KeyS"] },
    y: SIDE,
    z: RISE,
    roll: { ...bound(["KeyO"], ["KeyU"], null, false, null), pad: { plus: 15, minus: 14 } },
    pitch: { ...bound(["KeyI"], ["KeyK"], null, false, null), pad: { plus: 12, minus: 13 } },
    yaw: { ...TURN_BESIDE, pad: { axis: 2 } },
  },
};

const BUTTONS: Record<string, Record<string, ButtonBinding>> = {
  arm: {
    clutch: { keys: ["KeyC", "ShiftLeft", "ShiftRight"], pad: [4, 5] },
    open: { keys: ["KeyG"], pad: [0] },
    close: { keys: ["KeyH"], pad: [2] },
  },
};

/** Keys and sticks of axes that are not known here, as those of another family's commands: in the order of the list. */
const FREE = [AHEAD, { ...SIDE, plus: ["KeyA", "ArrowLeft"], minus: ["KeyD", "ArrowRight"] }, RISE, TURN_BESIDE];
const UNBOUND = bound([], [], null, false, null);

/** Which arrangement a robot uses in a mode. */
export function profileOf(robot: RobotInfo, mode: string | null): string {
  const withMode = `${robot.hands}:${mode}`;
  if (withMode in AXES) return withMode;
  return robot.hands === "tank" ? "tank:drive" : robot.hands;
}

/** The shipped arrangement for a robot: its own axes; those that are not known here get what is free,
 * and the user changes it. */
export function defaultMapping(robot: RobotInfo, mode: string | null): Mapping {
  const profile = profileOf(robot, mode);
  const known = AXES[profile] ?? {};
  const named = robot.axes.filter((axis) => axis in known);
  const axes = named.length ? named : Object.keys(known);
  // A robot with several modes lists the axes of all of them.
  const extra = robot.modes.length > 1 ? [] : robot.axes.filter((axis) => !(axis in known));
  const free = named.length ? [] : FREE;
  return structuredClone({
    axes: Object.fromEntries([...axes.map((axis) => [axis, known[axis]!]), ...extra.map((axis, k) => [axis, free[k] ?? UNBOUND])]),
    buttons: BUTTONS[robot.hands] ?? {},
  });
}

/** A stored arrangement, where it still fits the robot; an older or broken one gives the shipped one. */
export function fittingMapping(robot: RobotInfo, mode: string | null, stored: unknown): Mapping {
  const mapping = defaultMapping(robot, mode);
  const from = stored as Partial<Mapping> | null;
  for (const name of Object.keys(mapping.axes)) {
    const one = from?.axes?.[name];
    if (one && Array.isArray(one.plus) && Array.isArray(one.minus))
      mapping.axes[name] = { ...mapping.axes[name]!, ...one };
  }
  for (const name of Object.keys(mapping.buttons)) {
    const one = from?.buttons?.[name];
    if (one && Array.isArray(one.keys) && Array.isArray(one.pad)) mapping.buttons[name] = one;
  }
  return mapping;
}

export interface PadState {
  axes: readonly number[];
  /** Depth of each button, 0 to 1. */
  buttons: readonly number[];
}

export type StickState = Record<StickAxis, number>;

export interface HandsInput {
  keys: ReadonlySet<string>;
  pad: PadState | null;
  sticks: StickState | null;
  /** Buttons held on the screen. */
  held: ReadonlySet<string>;
}

export const DEAD_ZONE = 0.1;

/** Without the slack in the middle: 0 at its edge, 1 at the end of travel. */
export function beyondDeadZone(value: number, zone = DEAD_ZONE): number {
  const size = Math.abs(value);
  if (!(size > zone)) return 0; // also for what is not a number
  return Math.sign(value) * Math.min(1, (size - zone) / (1 - zone));
}

export function padValue(binding: Binding, pad: PadState): number {
  if (binding.pad === null) return 0;
  const raw =
    "axis" in binding.pad
      ? (pad.axes[binding.pad.axis] ?? 0)
      : (pad.buttons[binding.pad.plus] ?? 0) - (pad.buttons[binding.pad.minus] ?? 0);
  return beyondDeadZone(binding.padInvert ? -raw : raw);
}

export interface Command {
  axes: Record<string, number>;
  buttons: Record<string, boolean>;
}

/** All hands together: the numbers of each axis add up, never beyond full deflection. */
export function commandOf(mapping: Mapping, input: HandsInput, gain = 1): Command {
  const axes: Record<string, number> = {};
  for (const [name, binding] of Object.entries(mapping.axes)) {
    let value = 0;
    if (binding.plus.some((code) => input.keys.has(code))) value += 1;
    if (binding.minus.some((code) => input.keys.has(code))) value -= 1;
    if (input.pad) value += padValue(binding, input.pad);
    if (input.sticks && binding.stick) {
      value += (binding.stickInvert ? -1 : 1) * beyondDeadZone(input.sticks[binding.stick], 0.05);
    }
    // + 0 takes the sign from a negative zero.
    axes[name] = Math.max(-1, Math.min(1, value)) * gain + 0;
  }
  const buttons: Record<string, boolean> = {};
  for (const [name, binding] of Object.entries(mapping.buttons)) {
    buttons[name] =
      input.held.has(name) ||
      binding.keys.some((code) => input.keys.has(code)) ||
      (input.pad !== null && binding.pad.some((index) => (input.pad!.buttons[index] ?? 0) > 0.5));
  }
  return { axes, buttons };
}

export function isIdle(command: Command): boolean {
  return Object.values(command.axes).every((value) => value === 0) && !Object.values(command.buttons).some(Boolean);
}

export interface DriveTarget {
  run: string;
  robot: string;
  mode: string;
}

/** Shortest time between messages while something changes, and while the same command is only kept alive [ms]. */
const FASTEST_MS = 20;
const KEEP_ALIVE_MS = 40;

/** Says what the hands want: at once when a key goes down, up to 50 times a second while they move, one zero and a
 * release when they rest. */
export class Driver {
  target: DriveTarget | null = null;
  active = false;
  seq = 0;
  private last: Command | null = null;
  private lastAt = -Infinity;
  private stopped = false;

  constructor(
    private readonly send: (message: ClientMessage) => void,
    private readonly sent: (seq: number, command: Command, at: number) => void = () => {},
  ) {}

  /** After a stop: nothing is sent until all hands have been at rest. */
  get locked(): boolean {
    return this.stopped;
  }

  /** To be called about 50 times a second, and `urgent` at once on a key. */
  update(command: Command, now: number, urgent = false): void {
    if (isIdle(command)) {
      this.stopped = false;
      if (this.active) this.rest(now);
      return;
    }
    if (this.stopped || this.target === null) return;
    const changed = !this.active || this.last === null || !same(this.last, command);
    const wait = changed ? (urgent || !this.active ? 0 : FASTEST_MS) : KEEP_ALIVE_MS;
    // Half a tick of grace, since a timer of 20 ms comes a little early or late.
    if (now - this.lastAt < wait - 2) return;
    this.active = true;
    this.drive(command, now);
  }

  /** Zero and release, at once; whoever still holds a key must let go first. Without the `seat` nothing is said: the
   * robot was stopped when it changed hands, and is somebody else's now. */
  stop(now: number, seat = true): boolean {
    const was = this.active;
    this.stopped = true;
    if (was && seat) this.rest(now);
    this.active = false;
    this.last = null;
    return was;
  }

  /** Turns to another robot or run; the one driven so far is released. */
  aim(target: DriveTarget | null, now: number): void {
    const same_ =
      target?.run === this.target?.run && target?.robot === this.target?.robot && target?.mode === this.target?.mode;
    if (same_) return;
    if (this.active) this.rest(now);
    this.target = target;
  }

  private rest(now: number): void {
    this.active = false;
    const { target, last } = this;
    if (target === null || last === null) return;
    const zero: Command = {
      axes: Object.fromEntries(Object.keys(last.axes).map((name) => [name, 0])),
      buttons: Object.fromEntries(Object.keys(last.buttons).map((name) => [name, false])),
    };
    this.drive(zero, now);
    this.send({ t: "release", run: target.run });
    this.last = null;
  }

  private drive(command: Command, now: number): void {
    this.last = command;
    this.lastAt = now;
    this.seq += 1;
    this.send({ t: "drive", ...this.target!, ...command, seq: this.seq });
    this.sent(this.seq, command, now);
  }
}

function same(a: Command, b: Command): boolean {
  const near = Object.entries(b.axes).every(([name, value]) => Math.abs((a.axes[name] ?? 0) - value) < 1e-3);
  return near && Object.entries(b.buttons).every(([name, value]) => (a.buttons[name] ?? false) === value);
}

/** The sources a user can choose for an axis of a pad, in the order of the list. */
export function padSources(): { id: string; source: PadSource | null }[] {
  const found: { id: string; source: PadSource | null }[] = [{ id: "none", source: null }];
  for (let axis = 0; axis < 4; axis += 1) found.push({ id: `axis-${axis}`, source: { axis } });
  found.push({ id: "triggers", source: TRIGGERS });
  found.push({ id: "bumpers", source: { plus: 5, minus: 4 } });
  found.push({ id: "dpad-y", source: { plus: 12, minus: 13 } });
  found.push({ id: "dpad-x", source: { plus: 15, minus: 14 } });
  return found;
}

export function padSourceId(source: PadSource | null): string {
  const words = JSON.stringify(source);
  return padSources().find((one) => JSON.stringify(one.source) === words)?.id ?? "none";
}

const PAD_BUTTONS = "A B X Y LB RB LT RT Back Start L3 R3 ↑ ↓ ← →".split(" ");

/** The choices for a button: none, each one, and first the present one where that is several. */
export function padButtons(now: readonly number[]): { id: string; buttons: number[]; label: string | null }[] {
  const label = (buttons: readonly number[]): string =>
    buttons.map((one) => PAD_BUTTONS[one] ?? String(one)).join(" / ");
  const single = PAD_BUTTONS.map((_, index) => [index]);
  const known = now.length === 0 || single.some(([one]) => now.length === 1 && one === now[0]);
  return [[], ...(known ? [] : [[...now]]), ...single].map((buttons) => ({
    id: buttons.join(),
    buttons,
    label: buttons.length ? label(buttons) : null,
  }));
}

/** A key's name as printed on it. */
export function keyLabel(code: string): string {
  const arrows: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
  const plain: Record<string, string> = { ShiftLeft: "⇧", ShiftRight: "⇧", Space: "␣", Minus: "−", Equal: "=" };
  return arrows[code] ?? plain[code] ?? code.replace(/^Key|^Digit/, "").replace(/^Numpad/, "Num ");
}
