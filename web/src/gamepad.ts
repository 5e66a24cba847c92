// Gamepads through the browser, polled: what the pad says now, and what its buttons ask of the page.
import { commandOf, isIdle, type Mapping, type PadState } from "./hands";
import type { Action } from "./keyboard";

export type PadActions = Readonly<Partial<Record<Action, number>>>;

/** Buttons of the standard arrangement that command the page, as shipped; the others are free for driving. */
export const PAD_ACTIONS: PadActions = { halt: 1, nextCamera: 3, reset: 8, pause: 9 };

/** A stored arrangement; −1 is no button. What it does not tell rightly is as shipped. */
export function fittingActions(stored: unknown): PadActions {
  const from = (stored ?? {}) as Record<string, unknown>;
  const chosen = Object.entries(PAD_ACTIONS).map(([action, button]) => [
    action,
    Number.isInteger(from[action]) ? from[action] : button,
  ]);
  return Object.fromEntries(chosen) as PadActions;
}

export interface PadEvents {
  connected: (name: string) => void;
  disconnected: (name: string) => void;
  action: (action: Action) => void;
}

interface Pad {
  id: string;
  index: number;
  connected: boolean;
  axes: readonly number[];
  buttons: readonly { value: number; pressed: boolean }[];
}

/** The pad to listen to: the one that was used last, else the first with sticks. */
export function choosePad(pads: readonly (Pad | null)[], before: number | null): Pad | null {
  const present = pads.filter((pad): pad is Pad => pad !== null && pad.connected && pad.axes.length >= 2);
  return present.find((pad) => pad.index === before) ?? present[0] ?? null;
}

export class GamepadReader {
  state: PadState | null = null;
  name: string | null = null;
  actions: PadActions = PAD_ACTIONS;
  private index: number | null = null;
  private pressed = new Set<number>();

  constructor(
    private readonly events: PadEvents,
    private readonly pads: () => readonly (Pad | null)[] = () => navigator.getGamepads?.() ?? [],
  ) {}

  /** Reads the pad; a pad that is gone is noticed here too, since not every browser tells at once. */
  poll(): PadState | null {
    const pad = choosePad(this.pads(), this.index);
    if (pad === null || (this.index !== null && pad.index !== this.index)) {
      if (this.name !== null) this.lose();
      if (pad === null) return null;
    }
    if (this.name === null) {
      this.index = pad.index;
      this.name = pad.id;
      // A button that is already down when the pad shows up is no command.
      this.pressed = new Set(pad.buttons.flatMap((button, index) => (button.pressed ? [index] : [])));
      this.events.connected(pad.id);
    }
    pad.buttons.forEach((button, index) => this.noteButton(index, button.pressed));
    this.state = { axes: pad.axes, buttons: pad.buttons.map((button) => button.value) };
    return this.state;
  }

  private noteButton(index: number, down: boolean): void {
    if (!down) this.pressed.delete(index);
    else if (!this.pressed.has(index)) {
      this.pressed.add(index);
      for (const [action, button] of Object.entries(this.actions))
        if (button === index) this.events.action(action as Action);
    }
  }

  private lose(): void {
    const name = this.name ?? "";
    this.name = null;
    this.index = null;
    this.state = null;
    this.pressed.clear();
    this.events.disconnected(name);
  }
}

const NOTHING: ReadonlySet<string> = new Set();

/** A pad says where its sticks stand, not when they were pushed: after a stop it counts only once it has been seen at
 * rest. One that is away, or belongs to another window, has not been seen at all. */
export class RestedPad {
  /** Whether it has to come to rest before it moves anything. */
  waits = false;

  /** Whatever is pushed now moves nothing any more. */
  stop(): void {
    this.waits = true;
  }

  /** The pad, or nothing while it has to come to rest first. */
  pass(pad: PadState | null, mapping: Mapping): PadState | null {
    if (this.waits && pad !== null && atRest(pad, mapping)) this.waits = false;
    return this.waits ? null : pad;
  }
}

/** By what moves the robot; without a robot nobody can tell. */
function atRest(pad: PadState, mapping: Mapping): boolean {
  const alone = { keys: NOTHING, pad, sticks: null, held: NOTHING };
  return Object.keys(mapping.axes).length > 0 && isIdle(commandOf(mapping, alone));
}
