// What the page says of who drives, and of what can be driven.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Lab } from "../src/app";
import { HandsPanel } from "../src/hands_panel";
import type { Pilot } from "../src/piloting";
import type { RunInfo } from "../src/protocol";
import { initialState, Store } from "../src/state";
import { en } from "../src/texts_en";
import { topBar } from "../src/topbar";
import { Piece, stubPage } from "./page_pieces";

const told = (hands: string[], changes: Partial<RunInfo> = {}): RunInfo =>
  ({
    id: "1",
    status: "running",
    driver: "me",
    factor: 1,
    robots: hands.map((one, k) => ({ name: `r${k}`, hands: one, modes: [], axes: [], note: "" })),
    ...changes,
  }) as unknown as RunInfo;

/** A page that shows this run; its parts are written once the store has told them. */
const shown = async <T>(run: RunInfo, build: (lab: Lab) => T): Promise<T> => {
  const store = new Store({ ...initialState(), mode: "live", run: "1", viewer: "me", runs: [run] });
  const made = build({ store, connection: { hasServer: true } } as unknown as Lab);
  await Promise.resolve();
  return made;
};

beforeEach(stubPage);
afterEach(() => void vi.unstubAllGlobals());

describe("the seat on the top bar", () => {
  const nothing = (): void => {};
  const events = { library: nothing, help: nothing, language: nothing, seat: nothing };
  const seat = async (run: RunInfo): Promise<Piece> => {
    const bar = (await shown(run, (lab) => topBar(lab, events))) as unknown as Piece;
    return bar.find("seat-chip")!;
  };

  it("says that one drives only where something can be driven", async () => {
    expect((await seat(told(["planar"]))).textContent).toBe(en["seat.mine"]);
    expect((await seat(told(["none", "planar"]))).textContent).toBe(en["seat.mine"]);
    expect((await seat(told(["none"]))).textContent).toBe(en["seat.control"]);
    expect((await seat(told([]))).textContent).toBe(en["seat.control"]);
  });

  it("tells a free seat from one that is taken, whatever can be driven", async () => {
    for (const hands of [["planar"], ["none"]]) {
      expect((await seat(told(hands, { driver: null }))).textContent).toBe(en["seat.free"]);
      expect((await seat(told(hands, { driver: "you" }))).textContent).toBe(en["seat.other"]);
    }
    expect((await seat(told(["planar"], { status: "finished" }))).hidden).toBe(true);
  });
});

describe("the panel of hands", () => {
  const pilot = { robot: null, gamepad: { actions: {} }, mapping: { axes: {}, buttons: {} } } as unknown as Pilot;
  const words = async (run: RunInfo): Promise<string> => {
    const panel = await shown(run, (lab) => new HandsPanel(lab, pilot));
    return panel.element.textContent!.trim();
  };

  it("says of a run that starts that it starts, and not that nothing can be driven", async () => {
    // What robots there are is told when it has begun.
    expect(await words(told([], { status: "starting" }))).toBe(en["hands.starting"]);
  });

  it("says where nothing can be driven", async () => {
    expect(await words(told(["none"]))).toBe(en["hands.none"]);
  });
});
