// The page as a whole: the view fills the window, everything else lies on it. On a phone the panels are sheets that
// come from below, and only one of them is open.
import type { Lab } from "./app";
import { ComparePanel } from "./compare_panel";
import { button, h, wordAll } from "./dom";
import { ExportPanel } from "./exporting";
import { HandsPanel } from "./hands_panel";
import { Help } from "./help";
import { setLanguage, text, textOr, type Language } from "./i18n";
import type { Action } from "./keyboard";
import { Library } from "./library";
import { Numbers } from "./numbers";
import { CamerasPanel, LayersPanel, Panels, PeoplePanel } from "./panels";
import { Pilot } from "./piloting";
import { Plots } from "./plots";
import { ScoreBoard } from "./scoreboard";
import { isOver, remember, type Tab } from "./state";
import type { Toasts } from "./toasts";
import { topBar } from "./topbar";
import { Transport } from "./transport";

export class Layout {
  readonly pilot: Pilot;
  /** None in a page that is a recording and nothing else. */
  readonly library: Library | null;
  private readonly panels: Panels;
  private readonly exporting: ExportPanel;
  private readonly transport: Transport;
  private readonly score: ScoreBoard;
  private readonly help: Help;
  private readonly tight = window.matchMedia("(max-width: 1000px)");
  private readonly narrow = window.matchMedia("(max-width: 760px)");

  constructor(
    private readonly lab: Lab,
    private readonly root: HTMLElement,
    toasts: Toasts,
  ) {
    const { store } = lab;
    const { hasServer } = lab.connection;
    this.pilot = new Pilot(
      lab,
      (action) => this.act(action),
      (index) => this.camera(index),
    );
    this.library = hasServer
      ? new Library(
          lab,
          () => this.narrow.matches && store.set({ library: false }),
          () => store.set({ library: false }),
        )
      : null;
    const plots = new Plots(lab);
    const people = new PeoplePanel(lab);
    this.exporting = new ExportPanel(lab);
    this.panels = new Panels(lab, {
      numbers: new Numbers(lab, plots, () => this.panels.open("plots")),
      plots,
      layers: new LayersPanel(lab),
      cameras: new CamerasPanel(lab),
      export: this.exporting,
      ...(hasServer && { hands: new HandsPanel(lab, this.pilot), people, compare: new ComparePanel(lab) }),
    });
    this.transport = new Transport(lab);
    this.score = new ScoreBoard(lab);
    this.help = new Help(this.pilot, hasServer);
    const asks = h("div", { class: "asks" });
    lab.connection.on("asked", ({ run, from }) => {
      const ask = people.asked(run, from);
      ask.addEventListener("click", (event) => (event.target as HTMLElement).closest("button") && ask.remove());
      setTimeout(() => ask.remove(), 30_000);
      asks.replaceChildren(ask);
    });
    const top = topBar(lab, {
      library: hasServer ? () => this.act("library") : null,
      help: () => this.help.toggle(),
      language: (name) => this.speak(name),
      seat: () => this.panels.open("people"),
    });
    const bar = h("div", { class: "bottom" }, this.pilot.sticks.element, this.driveHint(), this.transport.element);
    root.append(
      top,
      ...(this.library ? [this.library.element] : []),
      this.panels.rail,
      this.panels.element,
      bar,
      this.score.element,
      this.veil(),
      ...(this.library ? [this.welcome()] : []),
      asks,
      toasts.element,
      this.help.element,
    );
    this.arrange();
    this.entitle();
    this.keepKeysForDriving();
  }

  /** A pressed button or a chosen entry gives the keyboard back: Space shall stop the robot, not press Start again. Who
   * walks through the page by the Tab key keeps the place. */
  private keepKeysForDriving(): void {
    const leave = (event: Event): void => {
      const target = (event.target as HTMLElement).closest<HTMLElement>(
        "button, select, input:not([type=text]):not([type=search])",
      );
      target?.blur();
    };
    this.root.addEventListener("click", (event) => {
      if (event.detail > 0 && !(event.target as HTMLElement).closest("select, dialog")) leave(event);
    });
    this.root.addEventListener("change", (event) => {
      if ((event.target as HTMLElement).matches("select")) leave(event);
    });
  }

  /** Ten times a second. */
  tick(): void {
    this.panels.tick();
    this.transport.tick();
    this.score.tick();
  }

  speak(name: Language): void {
    setLanguage(name);
    remember("language", name);
    wordAll(this.root);
    this.lab.store.set({ language: name });
    this.pilot.wordSticks();
  }

  /** What keys, buttons of a pad and the page itself can ask for. */
  act(action: Action): void {
    const { lab } = this;
    const { store } = lab;
    switch (action) {
      case "pause":
        return lab.pause();
      case "halt":
        return lab.replay ? lab.pause() : this.pilot.halt();
      case "step":
        return lab.step(1);
      case "stepBack":
        return lab.step(-1);
      case "slower":
        return lab.faster(-1);
      case "faster":
        return lab.faster(1);
      case "normalSpeed":
        return lab.setFactor(1);
      case "reset":
        return lab.reset();
      case "home":
        return lab.replay?.playback.seek(lab.replay.playback.first);
      case "end":
        return lab.replay?.playback.seek(lab.replay.playback.duration);
      case "nextCamera":
        return lab.nextCamera(1);
      case "previousCamera":
        return lab.nextCamera(-1);
      case "library":
        return this.library ? store.set({ library: !store.now.library }) : undefined;
      case "numbers":
      case "plots":
      case "layers":
      case "hands":
        return this.panels.toggle(action as Tab);
      case "sticks":
        return store.set({ sticks: !store.now.sticks });
      case "picture":
        return void this.exporting.picture();
      case "help":
        return this.help.toggle();
      case "escape":
        if (this.help.open) return this.help.toggle();
        return this.narrow.matches ? store.set({ tab: null, library: false }) : store.set({ tab: null });
    }
  }

  private camera(index: number): void {
    const name = this.lab.world.cameras()[index];
    if (name) this.lab.setCamera(name);
  }

  /** Classes that the style goes by. */
  private arrange(): void {
    const { store } = this.lab;
    let wasLibrary = store.now.library;
    store.on(["library", "tab", "mode", "sticks", "run", "runs", "scene"], () => {
      let { library } = store.now;
      const { tab } = store.now;
      // One panel at a time where there is little room.
      if (this.tight.matches && library && tab !== null) {
        if (wasLibrary) store.set({ library: (library = false) });
        else store.set({ tab: null });
      }
      wasLibrary = library;
      this.root.classList.toggle("with-library", library);
      this.root.classList.toggle("with-tab", store.now.tab !== null);
      if (this.library) this.library.element.hidden = !library;
      const run = store.currentRun;
      const going = store.now.mode === "live" && run !== null && !isOver(run);
      const sticks = store.now.sticks && going && this.pilot.robot !== null;
      this.pilot.sticks.element.hidden = !sticks;
      this.root.classList.toggle("with-sticks", sticks);
      this.root.dataset.mode = store.now.mode;
    });
  }

  /** The window's title: of a page that is a recording, what was recorded. */
  private entitle(): void {
    const { store, connection } = this.lab;
    store.on(["language", "details"], () => {
      const { details } = store.now;
      document.title = connection.hasServer || !details ? text("page.title") : `${details.scenario} · Botz`;
    });
  }

  /** A line over the bar that says what keys do, until somebody drives. */
  private driveHint(): HTMLElement {
    const { store } = this.lab;
    const hint = h("div", { class: "drive-hint", hidden: true });
    store.on(["driving", "mode", "run", "runs", "robot", "handMode", "gamepad", "language", "sticks"], () => {
      const run = store.currentRun;
      const { robot } = this.pilot;
      const going = store.now.mode === "live" && run?.status === "running" && robot !== null;
      hint.hidden = !going || store.now.sticks || !(store.isDriver || run.driver === null);
      hint.classList.toggle("driving", store.now.driving);
      if (!going || !robot) return;
      const keys = textOr(`hint.${this.pilot.profile}`, textOr(`hint.${robot.hands}`, ""));
      const words = robot.hands === "arm" ? this.pilot.keysInWords() : keys;
      const several = run.robots.filter((one) => one.hands !== "none").length > 1;
      if (store.now.driving) hint.textContent = text("hint.driving", { name: robot.name });
      else if (several) hint.textContent = text("hint.which", { name: robot.name, keys: words });
      else hint.textContent = words || text("hint.any", { name: robot.name });
    });
    return hint;
  }

  private veil(): HTMLElement {
    const words = h("p", {});
    const detail = h("small", {});
    const veil = h(
      "div",
      { class: "veil", hidden: true, role: "status" },
      h("i", { class: "spinner" }),
      h("div", {}, words, detail),
    );
    this.lab.store.on(["loading", "language", "log", "run"], () => {
      const { loading, log, run } = this.lab.store.now;
      veil.hidden = loading === null;
      words.textContent = loading === null ? "" : text(loading === "starting" ? "veil.starting" : "veil.scene");
      // A first start compiles for a while; the run says so.
      detail.textContent = loading === "starting" ? (log.filter((line) => line.run === run).at(-1)?.text ?? "") : "";
    });
    return veil;
  }

  private welcome(): HTMLElement {
    const { store } = this.lab;
    const open = button("welcome.choose", () => store.set({ library: true }), "primary", "library");
    const card = h("div", { class: "welcome" }, h("h1", { t: "welcome.title" }), h("p", { t: "welcome.text" }), open);
    store.on(["mode", "loading", "scene", "library"], () => {
      card.hidden =
        store.now.mode !== "none" || store.now.loading !== null || (this.narrow.matches && store.now.library);
    });
    return card;
  }
}
