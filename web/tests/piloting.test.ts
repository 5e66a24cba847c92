// The driver's hands on a page without a browser: what moves the robot again after it was stopped, and what does not.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Lab } from "../src/app";
import type { ConnectionStatus } from "../src/connection";
import { Pilot } from "../src/piloting";
import type { ClientMessage, RunInfo } from "../src/protocol";
import { initialState, Store } from "../src/state";

/** As much of an element as sticks need. */
class Piece {
  readonly dataset: Record<string, string> = {};
  readonly style: Record<string, string> = {};
  readonly childNodes: Piece[] = [];
  readonly classList = { toggle: () => {}, add: () => {}, remove: () => {} };
  readonly clientWidth = 100;
  className = "";
  textContent = "";
  title = "";
  private readonly heard = new Map<string, ((event: object) => void)[]>();

  get children(): Piece[] {
    return this.childNodes;
  }
  append(...pieces: Piece[]): void {
    this.childNodes.push(...pieces);
  }
  replaceChildren(...pieces: Piece[]): void {
    this.childNodes.splice(0, this.childNodes.length, ...pieces);
  }
  setAttribute(name: string, value: string): void {
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = value;
  }
  setPointerCapture(): void {}
  querySelector(selector: string): Piece | undefined {
    return this.childNodes.find((one) => one.className === selector.slice(1));
  }
  getBoundingClientRect(): object {
    return { left: 0, top: 0, width: 100, height: 100 };
  }
  addEventListener(name: string, listener: (event: object) => void): void {
    this.heard.set(name, [...(this.heard.get(name) ?? []), listener]);
  }
  tell(name: string, event: object = {}): void {
    for (const listener of this.heard.get(name) ?? []) listener({ preventDefault: () => {}, ...event });
  }
}

const run = (driver: string | null): RunInfo =>
  ({
    id: "1",
    status: "running",
    driver,
    robots: [{ name: "r", hands: "planar", modes: ["drive"], axes: ["forward", "turn"], note: "" }],
  }) as unknown as RunInfo;

const pad = { id: "Pad", index: 0, connected: true, axes: [0, 0, 0, 0], buttons: [] };
const shown = { mode: "live", run: "1", robot: "r", handMode: "drive", viewer: "me" } as const;

class Rig {
  readonly window = new Piece();
  readonly store = new Store({ ...initialState(), ...shown });
  readonly sent: ClientMessage[] = [];
  readonly pilot: Pilot;
  inFront = true;
  plugged = false;
  link!: (status: ConnectionStatus) => void;

  constructor() {
    vi.stubGlobal("window", this.window);
    vi.stubGlobal("HTMLElement", Piece);
    vi.stubGlobal("navigator", { getGamepads: () => (this.plugged ? [pad] : [null]) });
    const page = new Piece();
    vi.stubGlobal("document", {
      createElement: () => new Piece(),
      hasFocus: () => this.inFront,
      hidden: false,
      addEventListener: (name: string, listener: () => void) => page.addEventListener(name, listener),
    });
    const connection = {
      send: (message: ClientMessage) => this.sent.push(message) > 0,
      on: () => () => {},
      onStatus: (callback: (status: ConnectionStatus) => void) => {
        this.link = callback;
        callback("connecting");
      },
    };
    pad.axes = [0, 0, 0, 0];
    this.store.set({ runs: [run("me")] });
    const lab = { store: this.store, connection, say: () => {}, note: () => {} } as unknown as Lab;
    this.pilot = new Pilot(
      lab,
      () => {},
      () => {},
    );
    this.link("connected");
  }

  /** A tenth of a second, in which the page looks at its hands five times; what it says meanwhile. */
  async passes(): Promise<ClientMessage[]> {
    const before = this.sent.length;
    await vi.advanceTimersByTimeAsync(100);
    return this.sent.slice(before);
  }

  push(forward: number): void {
    pad.axes = [0, -forward, 0, 0];
  }

  async drives(): Promise<boolean> {
    const said = await this.passes();
    return said.some((one) => one.t === "drive" && Object.values(one.axes).some((value) => value !== 0));
  }

  async seatOf(driver: string | null): Promise<void> {
    this.store.set({ runs: [run(driver)] });
    await Promise.resolve();
  }
}

let rig: Rig;
beforeEach(async () => {
  vi.useFakeTimers();
  rig = new Rig();
  await rig.passes();
  rig.plugged = true;
});
afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a stick that stays pushed", () => {
  /** Drives by the pad, is stopped, and comes back with the stick as it was. */
  const ways: Record<string, [stop: () => void | Promise<void>, back: () => void | Promise<void>]> = {
    "the pad was unplugged": [() => void (rig.plugged = false), () => void (rig.plugged = true)],
    "the window lost the focus": [
      () => {
        rig.inFront = false;
        rig.window.tell("blur");
      },
      () => void (rig.inFront = true),
    ],
    "the connection broke": [() => rig.link("lost"), () => rig.link("connected")],
    "the seat was given away": [() => rig.seatOf("other"), () => rig.seatOf("me")],
    "the robot was halted": [() => rig.pilot.halt(), () => {}],
  };

  for (const [what, [stop, back]] of Object.entries(ways)) {
    it(`moves nothing after ${what}, until it has been at rest`, async () => {
      rig.push(1);
      expect(await rig.drives()).toBe(true);
      await stop();
      expect(await rig.drives()).toBe(false);
      expect(rig.store.now.driving).toBe(false);
      await back();
      expect(await rig.drives()).toBe(false);
      rig.push(0.5); // still not at rest
      expect(await rig.drives()).toBe(false);
      rig.push(0);
      expect(await rig.passes()).toEqual([]);
      rig.push(1);
      expect(await rig.drives()).toBe(true);
    });
  }

  it("moves nothing when the window comes to the front with it", async () => {
    rig.inFront = false; // behind from the start: no event tells
    rig.push(1);
    expect(await rig.passes()).toEqual([]);
    rig.inFront = true;
    expect(await rig.drives()).toBe(false);
  });

  it("leaves the keys free while it is not at rest", async () => {
    rig.push(1);
    await rig.passes();
    rig.plugged = false;
    await rig.passes();
    rig.window.tell("keydown", { code: "KeyS", key: "s", target: null });
    const said = (await rig.passes()).find((one) => one.t === "drive");
    expect(said).toMatchObject({ axes: { forward: -1 } });
    rig.plugged = true;
    expect(await rig.passes()).not.toContainEqual(expect.objectContaining({ axes: { forward: 0, turn: 0 } }));
  });

  it("asks for nothing on a halted page: a seat that is free stays free", async () => {
    rig.push(1);
    await rig.passes();
    rig.pilot.halt();
    await rig.seatOf(null);
    await vi.advanceTimersByTimeAsync(5000);
    expect(rig.sent.filter((one) => one.t === "seat")).toEqual([]);
    // Let go and pushed again, it is meant.
    rig.push(0);
    await rig.passes();
    rig.push(1);
    await rig.passes();
    expect(rig.sent.filter((one) => one.t === "seat")).toEqual([{ t: "seat", run: "1", action: "take" }]);
  });

  it("says nothing to a robot that is somebody else's now", async () => {
    rig.push(1);
    await rig.passes();
    const said = rig.sent.length;
    await rig.seatOf("other");
    await rig.passes();
    expect(rig.sent.slice(said)).toEqual([]);
  });
});

it("takes a pad that shows up by being pushed, when nothing was stopped", async () => {
  rig.push(1);
  expect(await rig.drives()).toBe(true);
});

it("forgets a finger on the screen that was there before a stop", async () => {
  const stick = (rig.pilot.sticks.element as unknown as Piece).children.find((one) => one.dataset.side === "left")!;
  const finger = { pointerId: 7, clientX: 50, clientY: 10 };
  stick.tell("pointerdown", finger);
  expect(await rig.drives()).toBe(true);
  rig.pilot.halt();
  expect(await rig.drives()).toBe(false);
  stick.tell("pointermove", { ...finger, clientY: 12 });
  expect(await rig.drives()).toBe(false);
  stick.tell("pointerup", finger);
  stick.tell("pointerdown", finger);
  expect(await rig.drives()).toBe(true);
});
