// How the robot is driven: which robot, which keys, which stick of the pad; all of it can be changed and is kept.
import type { Lab } from "./app";
import { button, clear, h, note } from "./dom";
import { keyLabel, padButtons, padSourceId, padSources, type Binding } from "./hands";
import { number, said, text, textOr, type Key } from "./i18n";
import { SHORTCUTS } from "./keyboard";
import type { Panel } from "./panels";
import { shortName, type Pilot } from "./piloting";
import { remember } from "./state";

export class HandsPanel implements Panel {
  readonly element = h("div", { class: "hands" });
  private meters = new Map<string, HTMLElement>();
  private padView: HTMLElement | null = null;
  private readonly padNote = h("p", { class: "muted", t: "hands.padRest", hidden: true });

  constructor(
    private readonly lab: Lab,
    private readonly pilot: Pilot,
  ) {
    const draw = (): void => this.draw();
    lab.store.on(["robot", "handMode", "mode", "run", "loading", "gamepad", "language", "gain", "sticks"], draw);
    pilot.onMapping = draw;
  }

  setOpen(open: boolean): void {
    if (!open) this.pilot.capture = null;
  }

  tick(): void {
    const { axes, buttons } = this.pilot.command;
    for (const [name, meter] of this.meters) {
      const value = axes[name] ?? (buttons[name] ? 1 : 0);
      meter.style.setProperty("--value", String(value));
      meter.title = number(value, 3);
    }
    if (this.padView) this.drawPad(this.padView);
    this.padNote.hidden = !this.pilot.padWaits;
  }

  private draw(): void {
    const { store } = this.lab;
    clear(this.element);
    this.meters = new Map();
    this.padView = null;
    const run = store.now.mode === "live" ? store.currentRun : null;
    if (!run) return void this.element.append(note("hands.empty"));
    if (run.status === "starting") return void this.element.append(note("hands.starting"));
    const drivable = run.robots.filter((robot) => robot.hands !== "none");
    if (!drivable.length) {
      const [first] = run.robots;
      const why = first ? said(first.note, first.note_said, " ") : "";
      return void this.element.append(note("hands.none"), why ? h("p", { class: "muted" }, why) : "");
    }
    this.element.append(this.choices(drivable.map((robot) => robot.name)));
    const { robot } = this.pilot;
    if (!robot) return;
    if (robot.note) this.element.append(h("p", { class: "muted" }, said(robot.note, robot.note_said, " ")));
    this.element.append(this.gain());
    this.element.append(h("h3", { t: "hands.mapping" }));
    for (const [name, binding] of Object.entries(this.pilot.mapping.axes))
      this.element.append(this.axis(name, binding));
    for (const [name, binding] of Object.entries(this.pilot.mapping.buttons)) {
      const keys = this.keyChip(binding.keys, (code) =>
        this.change(() => (this.pilot.mapping.buttons[name] = { ...binding, keys: [code] })),
      );
      const words = textOr(`hold.${name}`, name);
      const pad = this.padButton(words, binding.pad, (buttons) =>
        this.change(() => (this.pilot.mapping.buttons[name] = { ...binding, pad: buttons })),
      );
      this.element.append(
        h(
          "section",
          { class: "axis", "data-button": name },
          h("div", { class: "row spread" }, h("b", {}, words), keys, this.meter(name)),
          h("div", { class: "axis-pad" }, pad),
        ),
      );
    }
    this.element.append(
      h(
        "div",
        { class: "row" },
        button("hands.default", () => this.asShipped(), "quiet", "reset"),
      ),
    );
    this.element.append(h("h3", { t: "hands.padTitle" }), this.padCard(), this.padActions());
  }

  private asShipped(): void {
    this.pilot.setPadActions(null);
    this.pilot.setMapping(null);
  }

  /** Which button of the pad stops, pauses, starts over and changes the camera. */
  private padActions(): HTMLElement {
    const { actions } = this.pilot.gamepad;
    const rows = Object.entries(actions).map(([action, now]) => {
      const words = text(SHORTCUTS.find((one) => one.action === action)!.text);
      const select = this.padButton(words, now < 0 ? [] : [now], ([chosen]) =>
        this.pilot.setPadActions({ ...actions, [action]: chosen ?? -1 }),
      );
      select.id = `pad-${action}`;
      return h("div", { class: "field" }, h("label", { for: select.id }, words), select);
    });
    return h("div", { class: "form" }, ...rows);
  }

  private padButton(words: string, now: readonly number[], taken: (buttons: number[]) => void): HTMLSelectElement {
    const choices = padButtons(now);
    const select = h(
      "select",
      { "aria-label": `${words}: ${text("hands.padTitle")}` },
      ...choices.map(({ id, label }) =>
        h("option", { value: id, selected: id === now.join() }, label ?? text("pad.none")),
      ),
    );
    select.addEventListener("change", () => taken(choices.find((one) => one.id === select.value)!.buttons));
    return select;
  }

  private choices(names: string[]): HTMLElement {
    const { store } = this.lab;
    const row = h("div", { class: "form" });
    if (names.length > 1 || store.now.robot !== names[0]) {
      const select = h(
        "select",
        { id: "hands-robot" },
        ...names.map((name) => h("option", { value: name, selected: name === store.now.robot }, name)),
      );
      select.addEventListener("change", () => this.lab.chooseRobot(select.value));
      row.append(h("div", { class: "field" }, h("label", { for: "hands-robot", t: "hands.robot" }), select));
    }
    const modes = this.pilot.robot?.modes ?? [];
    if (modes.length > 1) {
      const select = h(
        "select",
        { id: "hands-mode" },
        ...modes.map((name) =>
          h("option", { value: name, selected: name === store.now.handMode }, textOr(`handMode.${name}`, name)),
        ),
      );
      select.addEventListener("change", () => store.set({ handMode: select.value }));
      row.append(h("div", { class: "field" }, h("label", { for: "hands-mode", t: "hands.mode" }), select));
    }
    return row;
  }

  private gain(): HTMLElement {
    const { store } = this.lab;
    const words = h("output", {}, `${Math.round(100 * store.now.gain)} %`);
    const slider = h("input", {
      type: "range",
      id: "hands-gain",
      min: "0.1",
      max: "1",
      step: "0.05",
      value: String(store.now.gain),
    });
    slider.addEventListener("input", () => (words.textContent = `${Math.round(100 * Number(slider.value))} %`));
    slider.addEventListener("change", () => {
      store.set({ gain: Number(slider.value) });
      remember("gain", store.now.gain);
    });
    const sticks = h("input", { type: "checkbox", class: "switch", id: "hands-sticks", checked: store.now.sticks });
    sticks.addEventListener("change", () => store.set({ sticks: sticks.checked }));
    return h(
      "div",
      { class: "form" },
      h(
        "div",
        { class: "field" },
        h("label", { for: "hands-gain", t: "hands.gain" }),
        h("span", { class: "entry" }, slider, words),
      ),
      h("label", { class: "switch-row", for: "hands-sticks" }, h("b", { t: "hands.sticks" }), sticks),
    );
  }

  private axis(name: string, binding: Binding): HTMLElement {
    const set = (changes: Partial<Binding>): void =>
      this.change(() => (this.pilot.mapping.axes[name] = { ...binding, ...changes }));
    const source = h(
      "select",
      { "aria-label": `${textOr(`axis.${name}`, name)}: ${text("hands.padTitle")}` },
      ...padSources().map(({ id }) =>
        h("option", { value: id, selected: id === padSourceId(binding.pad) }, text(`pad.${id}` as Key)),
      ),
    );
    source.addEventListener("change", () => set({ pad: padSources().find((one) => one.id === source.value)!.source }));
    const invert = h("input", { type: "checkbox", checked: binding.padInvert });
    invert.addEventListener("change", () => set({ padInvert: invert.checked }));
    return h(
      "section",
      { class: "axis", "data-axis": name },
      h("div", { class: "row spread" }, h("b", {}, textOr(`axis.${name}`, name)), this.meter(name)),
      h(
        "div",
        { class: "axis-keys" },
        h("span", { class: "sign" }, "+"),
        this.keyChip(binding.plus, (code) => set({ plus: [code] })),
        h("span", { class: "sign" }, "−"),
        this.keyChip(binding.minus, (code) => set({ minus: [code] })),
      ),
      h(
        "div",
        { class: "axis-pad" },
        source,
        h("label", { class: "inline" }, invert, h("span", { t: "hands.invert" })),
      ),
    );
  }

  private meter(name: string): HTMLElement {
    const meter = h("span", { class: "meter", "aria-hidden": "true" }, h("i", {}));
    this.meters.set(name, meter);
    return meter;
  }

  /** The keys of a direction; pressed, it waits for another one. */
  private keyChip(codes: string[], taken: (code: string) => void): HTMLElement {
    const chip = h("button", { type: "button", class: "key-chip", tip: "hands.changeKey" });
    const labels = [...new Set(codes.map(keyLabel))];
    chip.append(...(labels.length ? labels : ["–"]).map((one) => h("kbd", {}, one)));
    chip.addEventListener("click", () => {
      chip.classList.add("waiting");
      chip.textContent = text("hands.press");
      this.pilot.capture = (code) => {
        if (code === "Escape") this.draw();
        else taken(code);
      };
    });
    return chip;
  }

  private change(apply: () => void): void {
    apply();
    this.pilot.setMapping(this.pilot.mapping);
  }

  private padCard(): HTMLElement {
    const { gamepad } = this.lab.store.now;
    if (!gamepad) return note("hands.noPad");
    this.padView = h("div", { class: "pad-view" });
    return h(
      "section",
      { class: "card" },
      h("b", {}, shortName(gamepad)),
      this.padView,
      this.padNote,
    );
  }

  private drawPad(view: HTMLElement): void {
    const state = this.pilot.gamepad.state;
    if (!state) return;
    if (view.childElementCount !== 2 + state.buttons.length) {
      const sticks = [0, 1].map(() => h("span", { class: "pad-stick" }, h("i", {})));
      view.replaceChildren(
        ...sticks,
        ...state.buttons.map((_, index) => h("span", { class: "pad-button" }, String(index))),
      );
    }
    [0, 1].forEach((side) => {
      const dot = view.children[side]!.firstElementChild as HTMLElement;
      dot.style.transform = `translate(${(state.axes[2 * side] ?? 0) * 14}px, ${(state.axes[2 * side + 1] ?? 0) * 14}px)`;
    });
    state.buttons.forEach((value, index) => view.children[2 + index]!.classList.toggle("down", value > 0.5));
  }
}
