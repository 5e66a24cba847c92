// Keys: those that drive are held, those that command the page are struck.
import type { Key } from "./i18n";

export type Action =
  | "pause"
  | "step"
  | "stepBack"
  | "slower"
  | "faster"
  | "normalSpeed"
  | "reset"
  | "halt"
  | "home"
  | "end"
  | "nextCamera"
  | "previousCamera"
  | "library"
  | "numbers"
  | "plots"
  | "layers"
  | "hands"
  | "sticks"
  | "picture"
  | "help"
  | "escape";

export interface Shortcut {
  action: Action;
  /** KeyboardEvent.code, or KeyboardEvent.key for signs whose place differs between keyboards. */
  codes: string[];
  label: string;
  text: Key;
  shift?: boolean;
  /** Whether there must be a lab behind the page. */
  needsServer?: boolean;
}

/** Letters that no robot is driven with. */
export const SHORTCUTS: readonly Shortcut[] = [
  { action: "pause", codes: ["KeyP"], label: "P", text: "key.pause" },
  { action: "halt", codes: ["Space"], label: "Space", text: "key.halt" },
  { action: "step", codes: ["Period"], label: ".", text: "key.step" },
  { action: "stepBack", codes: ["Comma"], label: ",", text: "key.stepBack" },
  { action: "slower", codes: ["-", "NumpadSubtract"], label: "−", text: "key.slower" },
  { action: "faster", codes: ["+", "=", "NumpadAdd"], label: "+", text: "key.faster" },
  { action: "normalSpeed", codes: ["Digit0"], label: "0", text: "key.normalSpeed" },
  { action: "reset", codes: ["Backspace"], label: "⌫", text: "key.reset" },
  { action: "home", codes: ["Home"], label: "Home", text: "key.home" },
  { action: "end", codes: ["End"], label: "End", text: "key.end" },
  { action: "previousCamera", codes: ["KeyV"], label: "⇧ V", text: "key.previousCamera", shift: true },
  { action: "nextCamera", codes: ["KeyV"], label: "V 1…9", text: "key.nextCamera" },
  { action: "library", codes: ["KeyL"], label: "L", text: "key.library", needsServer: true },
  { action: "numbers", codes: ["KeyN"], label: "N", text: "key.numbers" },
  { action: "plots", codes: ["KeyJ"], label: "J", text: "key.plots" },
  { action: "layers", codes: ["KeyY"], label: "Y", text: "key.layers" },
  { action: "hands", codes: ["KeyT"], label: "T", text: "key.hands", needsServer: true },
  { action: "sticks", codes: ["KeyB"], label: "B", text: "key.sticks", needsServer: true },
  { action: "picture", codes: ["KeyX"], label: "X", text: "key.picture" },
  { action: "help", codes: ["?", "F1"], label: "?", text: "key.help" },
  { action: "escape", codes: ["Escape"], label: "Esc", text: "key.escape" },
];

export function shortcutOf(event: { code: string; key: string; shiftKey: boolean }): Action | null {
  const fits = SHORTCUTS.find(
    (one) => (one.codes.includes(event.code) || one.codes.includes(event.key)) && (!one.shift || event.shiftKey),
  );
  return fits?.action ?? null;
}

/** Whether keys belong to an element: who writes a name does not want to drive. */
export function typesInto(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  if (target.tagName !== "INPUT") return false;
  return !["checkbox", "radio", "button", "range", "color"].includes((target as HTMLInputElement).type);
}

export interface KeyboardEvents {
  /** Held keys changed: `down` is true for a key that went down. */
  changed: (down: boolean, at: number) => void;
  action: (action: Action) => void;
  camera: (index: number) => void;
  /** A key that shall be bound, instead of everything else; true when it was wanted. */
  captured: (code: string) => boolean;
}

export class Keyboard {
  readonly held = new Set<string>();
  /** Keys that drive the present robot; they come before shortcuts. */
  driving: ReadonlySet<string> = new Set();

  constructor(private readonly events: KeyboardEvents) {
    window.addEventListener("keydown", this.down);
    window.addEventListener("keyup", this.up);
  }

  clear(): void {
    this.held.clear();
  }

  private readonly down = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.code && this.events.captured(event.code)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typesInto(event.target)) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (target?.closest("dialog") && shortcutOf(event) !== "help" && event.key !== "Escape") return;
    const own = target?.closest("button, [role=tab], summary, a, input[type=range]");
    // Buttons keep the keys that press them, sliders those that move them.
    if (own && (event.code === "Enter" || event.code === "Space")) return;
    if (target?.matches("input[type=range]") && event.code.startsWith("Arrow")) return;
    if (this.driving.has(event.code)) {
      event.preventDefault();
      if (event.repeat) return;
      this.held.add(event.code);
      this.events.changed(true, performance.now());
      return;
    }
    const digit = /^Digit([1-9])$/.exec(event.code);
    if (digit) return this.events.camera(Number(digit[1]) - 1);
    const action = shortcutOf(event);
    if (action === null) return;
    event.preventDefault();
    this.events.action(action);
  };

  private readonly up = (event: KeyboardEvent): void => {
    // While ⌘ is held macOS tells of no key that is let go.
    if (event.key === "Meta" && this.held.size) {
      this.clear();
      return this.events.changed(false, performance.now());
    }
    if (this.held.delete(event.code)) this.events.changed(false, performance.now());
  };
}
