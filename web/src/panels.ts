// The right side: a rail of tabs, and the panels for layers, cameras and people. The larger panels have files of
// their own.
import type { Lab } from "./app";
import { button, clear, h, icon, note, type IconName } from "./dom";
import { text, textOr, translated, type Key } from "./i18n";
import { remember, type Tab } from "./state";

export interface Panel {
  readonly element: HTMLElement;
  setOpen?(open: boolean): void;
  tick?(): void;
}

const TABS: readonly { name: Tab; icon: IconName; text: Key; keys: string }[] = [
  { name: "numbers", icon: "numbers", text: "tab.numbers", keys: "N" },
  { name: "plots", icon: "plots", text: "tab.plots", keys: "J" },
  { name: "layers", icon: "layers", text: "tab.layers", keys: "Y" },
  { name: "cameras", icon: "camera", text: "tab.cameras", keys: "V" },
  { name: "hands", icon: "hands", text: "tab.hands", keys: "T" },
  { name: "people", icon: "people", text: "tab.people", keys: "" },
  { name: "compare", icon: "compare", text: "tab.compare", keys: "" },
  { name: "export", icon: "export", text: "tab.export", keys: "" },
];

export class Panels {
  readonly rail = h("nav", { class: "rail", role: "tablist", tip: "tab.all" });
  readonly element: HTMLElement;
  private readonly body = h("div", { class: "panel-body" });
  private readonly head = h("h2", {});
  private shown: Tab | null = null;

  constructor(
    private readonly lab: Lab,
    private readonly panels: Partial<Record<Tab, Panel>>,
  ) {
    for (const tab of TABS) {
      if (!panels[tab.name]) continue;
      this.rail.append(
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${tab.name}`,
            class: "rail-tab",
            tip: tab.text,
            "data-keys": tab.keys || undefined,
            "data-tab": tab.name,
            "aria-controls": "side-panel",
            on: { click: () => this.toggle(tab.name) },
          },
          icon(tab.icon),
          h("span", { t: tab.text }),
        ),
      );
    }
    const close = h(
      "button",
      { type: "button", class: "icon-button small", tip: "close", on: { click: () => this.toggle(null) } },
      icon("close"),
    );
    this.element = h(
      "aside",
      { class: "panel right", id: "side-panel", role: "tabpanel", hidden: true },
      h("header", { class: "panel-head" }, this.head, close),
      this.body,
    );
    this.rail.addEventListener("keydown", (event) => this.move(event));
    lab.store.on(["tab", "language"], () => this.draw());
  }

  toggle(tab: Tab | null): void {
    if (tab !== null && !this.panels[tab]) return;
    const now = this.lab.store.now.tab === tab ? null : tab;
    this.lab.store.set({ tab: now });
    remember("tab", now);
  }

  open(tab: Tab): void {
    this.lab.store.set({ tab });
  }

  tick(): void {
    if (this.shown) this.panels[this.shown]?.tick?.();
  }

  private draw(): void {
    const { tab } = this.lab.store.now;
    // What the browser remembers may be a panel of the lab that this page has not.
    if (tab !== null && !this.panels[tab]) return this.lab.store.set({ tab: null });
    for (const one of this.rail.querySelectorAll<HTMLElement>("[data-tab]")) {
      const chosen = one.dataset.tab === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen || (tab === null && one.dataset.tab === "numbers") ? 0 : -1;
    }
    const known = TABS.find((one) => one.name === tab);
    if (known) this.head.textContent = text(known.text);
    if (tab) this.element.setAttribute("aria-labelledby", `tab-${tab}`);
    if (tab === this.shown) return;
    if (this.shown) this.panels[this.shown]?.setOpen?.(false);
    this.shown = tab;
    this.element.hidden = tab === null;
    clear(this.body);
    this.body.scrollTop = 0;
    const panel = tab && this.panels[tab];
    if (panel) {
      this.body.append(panel.element);
      panel.setOpen?.(true);
    }
  }

  private move(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const tabs = [...this.rail.querySelectorAll<HTMLElement>("[data-tab]")];
    const at = tabs.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    tabs[(at + by + tabs.length) % tabs.length]!.focus();
  }
}

export class LayersPanel implements Panel {
  readonly element = h("div", { class: "layers" });
  private readonly list = h("div", {});

  constructor(private readonly lab: Lab) {
    this.element.append(this.list);
    lab.store.on(["scene", "layers", "language"], () => this.draw());
  }

  private draw(): void {
    const { scene, layers } = this.lab.store.now;
    clear(this.list);
    if (!scene) return void this.list.append(note("layers.empty"));
    for (const { name, texts } of scene.layers) {
      if (name === "solutions" && !this.lab.connection.hasServer) continue; // a server computes them
      const [title, about] = translated(texts);
      const id = `layer-${name}`;
      const box = h("input", { type: "checkbox", class: "switch", id, checked: layers.has(name) });
      box.addEventListener("change", () => this.lab.setLayer(name, box.checked));
      const words = h("span", {}, h("b", {}, title), h("small", {}, about));
      this.list.append(h("label", { class: "switch-row", for: id }, words, box));
    }
  }
}

export class CamerasPanel implements Panel {
  readonly element = h("div", { class: "cameras" });

  constructor(private readonly lab: Lab) {
    lab.store.on(["scene", "camera", "cameraTarget", "language"], () => this.draw());
  }

  private draw(): void {
    const { world, store } = this.lab;
    clear(this.element);
    if (!store.now.scene) return void this.element.append(note("cameras.empty"));
    const list = h("div", { class: "camera-list", role: "radiogroup" });
    world.cameras().forEach((name, index) => {
      const chosen = name === world.camera;
      list.append(
        h(
          "button",
          {
            type: "button",
            class: "camera-choice",
            role: "radio",
            "aria-checked": String(chosen),
            "data-camera": name,
            on: { click: () => this.lab.setCamera(name) },
          },
          h("kbd", {}, index < 9 ? String(index + 1) : ""),
          h(
            "span",
            {},
            h("b", {}, textOr(`camera.${name}`, name)),
            h("small", {}, textOr(`camera.${name}.about`, text("cameras.own"))),
          ),
        ),
      );
    });
    this.element.append(list);
    const targets = world.targets();
    if (targets.length > 1) {
      const select = h(
        "select",
        { id: "camera-target" },
        ...targets.map((name) => h("option", { value: name, selected: name === store.now.cameraTarget }, name)),
      );
      select.addEventListener("change", () => this.lab.setCamera(world.camera, select.value));
      this.element.append(
        h("div", { class: "field" }, h("label", { for: "camera-target", t: "cameras.target" }), select),
      );
    }
  }
}

export class PeoplePanel implements Panel {
  readonly element = h("div", { class: "people" });

  constructor(private readonly lab: Lab) {
    lab.store.on(["viewers", "runs", "run", "viewer", "mode", "language", "log"], () => this.draw());
  }

  /** Somebody would like to drive. */
  asked(run: string, from: string): HTMLElement {
    const name = this.nameOf(from);
    return h(
      "div",
      { class: "ask", role: "alertdialog" },
      h("span", {}, text("seat.asked", { name })),
      button("seat.give", () => this.seat(run, "give", from), "primary"),
      button("seat.keep", () => {}, "quiet"),
    );
  }

  private nameOf(id: string): string {
    // Who gave no name is called by the id.
    const name = this.lab.store.now.viewers.find((one) => one.id === id)?.name;
    return name && name !== id ? name : text("people.viewer", { id: id.slice(0, 4) });
  }

  private seat(run: string, action: "take" | "give" | "ask", to?: string): void {
    this.lab.connection.send({ t: "seat", run, action, ...(to ? { to } : {}) });
    if (action === "ask") this.lab.say("info", "toast.asked");
  }

  private draw(): void {
    const { store } = this.lab;
    const { viewers, viewer, mode, log } = store.now;
    const run = mode === "live" ? store.currentRun : null;
    clear(this.element);
    if (run) {
      const mine = store.isDriver;
      const card = h("section", { class: "card seat-card" });
      card.append(h("h3", { t: "seat.title" }));
      card.append(
        h(
          "p",
          {},
          mine
            ? text("seat.youDrive")
            : run.driver === null
              ? text("seat.isFree")
              : text("seat.theyDrive", { name: this.nameOf(run.driver) }),
        ),
      );
      if (mine) card.append(button("seat.leave", () => this.seat(run.id, "give"), "quiet"));
      else if (run.driver === null) card.append(button("seat.take", () => this.seat(run.id, "take"), "primary"));
      else card.append(button("seat.ask", () => this.seat(run.id, "ask"), "primary"));
      this.element.append(card);
    }
    this.element.append(h("h3", { t: "people.title" }));
    for (const one of viewers) {
      const me = one.id === viewer;
      const drives = run?.driver === one.id;
      const give =
        run && store.isDriver && !me ? button("seat.giveTo", () => this.seat(run.id, "give", one.id), "quiet") : null;
      this.element.append(
        h(
          "div",
          { class: "person", "data-viewer": one.id },
          icon(drives ? "seat" : "people"),
          h(
            "span",
            {},
            `${this.nameOf(one.id)}${me ? ` (${text("people.you")})` : ""}`,
            h("small", {}, drives ? text("people.drives") : text("people.watches")),
          ),
          give,
        ),
      );
    }
    if (!viewers.length) this.element.append(note("people.none"));
    if (log.length) {
      this.element.append(h("h3", { t: "people.log" }));
      const list = h("ol", { class: "log" });
      for (const line of log.slice(-100).reverse())
        list.append(h("li", { class: line.level.toLowerCase() }, line.text));
      this.element.append(list);
    }
  }
}
