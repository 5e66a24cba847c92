// Two thumb sticks on the screen, for fingers.
import { h } from "./dom";
import type { Key } from "./i18n";
import type { StickAxis, StickState } from "./hands";

const REST: StickState = { "left-x": 0, "left-y": 0, "right-x": 0, "right-y": 0 };

/** Deflection from the middle of a stick, right and up positive, within the unit circle. */
export function deflection(dx: number, dy: number, radius: number): [number, number] {
  const length = Math.hypot(dx, dy);
  if (length === 0 || radius <= 0) return [0, 0];
  const size = Math.min(1, length / radius);
  return [(size * dx) / length, (-size * dy) / length + 0];
}

export class Sticks {
  readonly element: HTMLElement;
  readonly state: StickState = { ...REST };
  /** Buttons (clutch, gripper) held on the screen. */
  readonly held = new Set<string>();
  private readonly buttons: HTMLElement;
  private readonly pads: HTMLElement[] = [];
  /** The finger on each stick. */
  private readonly fingers: Record<"left" | "right", number | null> = { left: null, right: null };

  constructor(private readonly changed: () => void) {
    this.buttons = h("div", { class: "stick-buttons" });
    this.element = h(
      "div",
      { class: "sticks", hidden: true },
      this.stick("left", "sticks.left"),
      this.buttons,
      this.stick("right", "sticks.right"),
    );
  }

  /** Shows which way is what, and the buttons that the robot has. */
  arrange(labels: Partial<Record<StickAxis, string>>, buttons: { name: string; label: string }[]): void {
    for (const pad of this.pads) {
      const side = pad.dataset.side as "left" | "right";
      pad.querySelector(".stick-x")!.textContent = labels[`${side}-x`] ?? "";
      pad.querySelector(".stick-y")!.textContent = labels[`${side}-y`] ?? "";
      pad.classList.toggle("unused", !labels[`${side}-x`] && !labels[`${side}-y`]);
    }
    this.held.clear();
    this.buttons.replaceChildren(...buttons.map(({ name, label }) => this.holdButton(name, label)));
  }

  /** All at rest; a finger that is still there must be lifted and put down again. */
  clear(): void {
    Object.assign(this.state, REST);
    this.held.clear();
    this.fingers.left = this.fingers.right = null;
    for (const pad of this.pads) {
      pad.classList.remove("touched");
      this.knob(pad, 0, 0);
    }
    for (const button of this.buttons.children) button.classList.remove("held");
  }

  private stick(side: "left" | "right", tip: Key): HTMLElement {
    const pad = h(
      "div",
      { class: `stick stick-${side}`, tip, role: "application", "data-side": side },
      h("span", { class: "stick-y" }),
      h("span", { class: "stick-x" }),
      h("span", { class: "knob" }),
    );
    this.pads.push(pad);
    const { fingers } = this;
    const move = (event: PointerEvent): void => {
      if (event.pointerId !== fingers[side]) return;
      const box = pad.getBoundingClientRect();
      const [x, y] = deflection(
        event.clientX - box.left - box.width / 2,
        event.clientY - box.top - box.height / 2,
        box.width * 0.36,
      );
      this.state[`${side}-x`] = x;
      this.state[`${side}-y`] = y;
      this.knob(pad, x, y);
      this.changed();
    };
    const end = (event: PointerEvent): void => {
      if (event.pointerId !== fingers[side]) return;
      fingers[side] = null;
      pad.classList.remove("touched");
      this.state[`${side}-x`] = this.state[`${side}-y`] = 0;
      this.knob(pad, 0, 0);
      this.changed();
    };
    pad.addEventListener("pointerdown", (event) => {
      if (fingers[side] !== null) return;
      fingers[side] = event.pointerId;
      pad.setPointerCapture(event.pointerId);
      pad.classList.add("touched");
      event.preventDefault();
      move(event);
    });
    pad.addEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"] as const) pad.addEventListener(name, end);
    return pad;
  }

  private knob(pad: HTMLElement, x: number, y: number): void {
    const knob = pad.querySelector<HTMLElement>(".knob")!;
    const reach = pad.clientWidth * 0.36;
    knob.style.transform = `translate(${x * reach}px, ${-y * reach}px)`;
  }

  private holdButton(name: string, label: string): HTMLElement {
    const button = h("button", { type: "button", class: "stick-button" }, label);
    const hold = (on: boolean): void => {
      if (on) this.held.add(name);
      else this.held.delete(name);
      button.classList.toggle("held", on);
      this.changed();
    };
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      event.preventDefault();
      hold(true);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      button.addEventListener(end, () => hold(false));
    }
    return button;
  }
}
