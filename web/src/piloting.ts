// The driver's hands: keys, pad and sticks together, aimed at the chosen robot, and stopped when attention is lost.
import type { Lab } from "./app";
import { fittingActions, GamepadReader, RestedPad, type PadActions } from "./gamepad";
import { commandOf, Driver, fittingMapping, isIdle, keyLabel, profileOf, type Command, type Mapping } from "./hands";
import { text, textOr, type Key } from "./i18n";
import { Keyboard, type Action } from "./keyboard";
import type { RobotInfo } from "./protocol";
import { isOver, recall, remember } from "./state";
import { Sticks } from "./sticks";

export interface Latency {
  seq: number;
  /** From the event in the page to the frame that shows that the physics took it [ms]. */
  ms: number;
}

export class Pilot {
  readonly keyboard: Keyboard;
  readonly gamepad: GamepadReader;
  readonly sticks: Sticks;
  readonly driver: Driver;
  mapping: Mapping = { axes: {}, buttons: {} };
  command: Command = { axes: {}, buttons: {} };
  readonly latencies: Latency[] = [];
  /** Takes the next key instead of driving, while a key is being chosen. */
  capture: ((code: string) => void) | null = null;
  /** Called when the mapping or the robot changed. */
  onMapping: (() => void) | null = null;
  private readonly rested = new RestedPad();
  private readonly unanswered = new Map<number, number>();
  private inputAt = 0;
  private linked = false;
  /** The run whose seat this page has. */
  private seatOf: string | null = null;
  private told = "";

  constructor(
    private readonly lab: Lab,
    act: (action: Action) => void,
    camera: (index: number) => void,
  ) {
    const { store, connection } = lab;
    this.driver = new Driver(
      (message) => connection.send(message),
      (seq, command) => this.noteSent(seq, command),
    );
    this.keyboard = new Keyboard({
      changed: (_down, at) => this.update(true, at),
      action: act,
      camera,
      captured: (code) => this.take(code),
    });
    this.gamepad = new GamepadReader({
      connected: (name) => {
        store.set({ gamepad: name });
        lab.say("info", "toast.padFound", { name: shortName(name) });
      },
      disconnected: (name) => {
        store.set({ gamepad: null });
        lab.note("pad-lost", name);
        this.loseAttention("toast.padLost");
      },
      action: (action) => document.hasFocus() && act(action),
    });
    this.gamepad.actions = fittingActions(recall("padActions", null));
    this.sticks = new Sticks(() => this.update(true, performance.now()));
    store.on(["run", "runs", "viewer"], () => this.watchSeat());
    store.on(["mode", "run", "runs", "robot", "handMode", "viewer"], () => this.aim());
    connection.on("frame", (message) => this.noteAnswer(message.a));
    connection.onStatus((status) => {
      if (this.linked && status !== "connected") this.loseAttention("toast.handsLink");
      this.linked = status === "connected";
    });
    window.addEventListener("blur", () => this.loseAttention("toast.handsFocus"));
    document.addEventListener("visibilitychange", () => document.hidden && this.loseAttention("toast.handsFocus"));
    window.addEventListener("pagehide", () => this.loseAttention("toast.handsFocus"));
    window.addEventListener("gamepaddisconnected", () => this.gamepad.poll());
    setInterval(() => this.update(false, performance.now()), 20);
  }

  /** The robot that the hands move, if there is one. */
  get robot(): RobotInfo | null {
    const run = this.lab.store.currentRun;
    return run?.robots.find((one) => one.name === this.lab.store.now.robot && one.hands !== "none") ?? null;
  }

  get profile(): string | null {
    return this.robot && profileOf(this.robot, this.lab.store.now.handMode);
  }

  /** Whether the pad moves nothing until its sticks have been let go. */
  get padWaits(): boolean {
    return this.gamepad.name !== null && this.rested.waits;
  }

  setMapping(mapping: Mapping | null): void {
    if (!this.profile) return;
    remember(`hands.${this.profile}`, mapping);
    this.loadMapping();
  }

  /** Which buttons of the pad command the page; null for those that are shipped. */
  setPadActions(actions: PadActions | null): void {
    remember("padActions", actions);
    this.gamepad.actions = fittingActions(actions);
    this.onMapping?.();
  }

  halt(): void {
    const was = this.letGo();
    const { store, connection } = this.lab;
    // Space stops the robot even when it is moved by what was sent before.
    if (!was && store.isDriver && this.driver.target) connection.send({ t: "release", run: this.driver.target.run });
    store.set({ driving: false });
    if (this.robot) this.lab.say("info", "toast.halt");
    this.lab.note("halt", was);
  }

  private take(code: string): boolean {
    if (!this.capture) return false;
    const capture = this.capture;
    this.capture = null;
    capture(code);
    return true;
  }

  /** What is held now is forgotten, and moves nothing until it was let go; whether the robot was moved by it. */
  private letGo(seat = true): boolean {
    this.keyboard.clear();
    this.sticks.clear();
    this.rested.stop();
    return this.driver.stop(performance.now(), seat);
  }

  private loseAttention(why: Key, seat = true): void {
    if (!this.letGo(seat)) return;
    this.lab.store.set({ driving: false });
    this.lab.note("hands-lost", why);
    this.lab.say("warning", why);
  }

  /** Who loses the seat lets go; getting it back with a stick still pushed moves nothing. */
  private watchSeat(): void {
    const { store } = this.lab;
    const lost = this.seatOf !== null && this.seatOf === store.now.run && !store.isDriver;
    this.seatOf = store.isDriver ? store.now.run : null;
    if (lost) this.loseAttention("toast.handsSeat", false);
  }

  private aim(): void {
    const { store } = this.lab;
    const run = store.currentRun;
    const robot = store.now.mode === "live" && run && !isOver(run) ? this.robot : null;
    const mode = robot ? (store.now.handMode ?? robot.modes[0] ?? "") : "";
    this.driver.aim(robot && run ? { run: run.id, robot: robot.name, mode } : null, performance.now());
    const what = robot ? `${robot.name} ${profileOf(robot, mode)} ${robot.axes.join()}` : "";
    if (what === this.told) return;
    this.told = what;
    this.loadMapping();
  }

  private loadMapping(): void {
    const { robot } = this;
    this.mapping = robot
      ? fittingMapping(robot, this.lab.store.now.handMode, recall(`hands.${this.profile}`, null))
      : { axes: {}, buttons: {} };
    const keys = Object.values(this.mapping.axes).flatMap((one) => [...one.plus, ...one.minus]);
    for (const one of Object.values(this.mapping.buttons)) keys.push(...one.keys);
    this.keyboard.driving = new Set(this.driver.target ? keys : []);
    this.keyboard.clear();
    // A stick that is pushed was meant for something else.
    if (this.gamepad.name !== null) this.rested.stop();
    this.wordSticks();
    this.onMapping?.();
  }

  /** What each key of the mapping does, in the language of the moment; first what has to be held. */
  keysInWords(): string {
    const labels = (codes: readonly string[]): string => (codes[0] ? keyLabel(codes[0]) : "–");
    const axes = Object.entries(this.mapping.axes).map(
      ([name, one]) => `${labels(one.plus)} ${labels(one.minus)} ${textOr(`axis.${name}`, name)}`,
    );
    const clutch = this.mapping.buttons["clutch"];
    const others = Object.entries(this.mapping.buttons)
      .filter(([name]) => name !== "clutch")
      .map(([name, one]) => `${labels(one.keys)} ${textOr(`hold.${name}`, name)}`);
    const all = [...axes, ...others].join(" · ");
    return clutch ? text("hint.hold", { key: labels(clutch.keys), keys: all }) : all;
  }

  /** Labels of the sticks, in the language of the moment. */
  wordSticks(): void {
    const labels: Record<string, string> = {};
    for (const [name, one] of Object.entries(this.mapping.axes))
      if (one.stick) labels[one.stick] = textOr(`axis.${name}`, name);
    const buttons = Object.keys(this.mapping.buttons).map((name) => ({ name, label: textOr(`hold.${name}`, name) }));
    this.sticks.arrange(labels, buttons);
  }

  private update(urgent: boolean, at: number): void {
    const { store } = this.lab;
    // Browsers tell of pads to every window: only the one in front shall drive.
    const inFront = document.hasFocus();
    const polled = this.gamepad.poll();
    if (polled !== null && !inFront) this.rested.stop();
    const pad = this.rested.pass(inFront ? polled : null, this.mapping);
    if (urgent) this.inputAt = at;
    this.command = commandOf(
      this.mapping,
      { keys: this.keyboard.held, pad, sticks: this.sticks.state, held: this.sticks.held },
      store.now.gain,
    );
    const { driver } = this;
    const wants = !isIdle(this.command) && !driver.active && !driver.locked && driver.target !== null;
    if (wants && !this.mayDrive()) return;
    driver.update(this.command, performance.now(), urgent);
    store.set({ driving: driver.active });
  }

  private refusedAt = -Infinity;

  /** Whether this page has the driver's seat; a free one is taken. */
  private mayDrive(): boolean {
    const { store, connection } = this.lab;
    const run = store.currentRun;
    if (!run) return false;
    if (store.isDriver) return true;
    const now = performance.now();
    if (now - this.refusedAt < 3000) return false;
    this.refusedAt = now;
    if (run.driver === null) connection.send({ t: "seat", run: run.id, action: "take" });
    else this.lab.say("info", "toast.watching");
    return false;
  }

  private noteSent(seq: number, command: Command): void {
    // Only what an event caused is timed: a key that is merely held causes nothing new.
    if (this.inputAt > 0) this.unanswered.set(seq, this.inputAt);
    this.inputAt = 0;
    this.lab.note("drive", { seq, ...command });
    if (this.unanswered.size > 500) this.unanswered.delete(this.unanswered.keys().next().value!);
  }

  private noteAnswer(seq: number): void {
    if (seq < 0 || this.unanswered.size === 0) return;
    const now = performance.now();
    // A frame may tell of a later message: what came before it has been taken too.
    for (const [one, at] of [...this.unanswered]) {
      if (one > seq) continue;
      this.unanswered.delete(one);
      this.latencies.push({ seq: one, ms: now - at });
    }
    if (this.latencies.length > 1000) this.latencies.splice(0, 250);
  }
}

export function shortName(id: string): string {
  return id.replace(/\s*\(.*\)\s*$/, "") || text("hands.pad");
}
