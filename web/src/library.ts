// The left panel: what is running, what can be started, and what was recorded.
import type { Lab } from "./app";
import { button, clear, h, icon, iconButton, note } from "./dom";
import { fieldId, SettingsForm, TERRAIN_KEY, Typed } from "./forms";
import { said, text, textOr, translated } from "./i18n";
import type { ScenarioInfo } from "./protocol";
import { recordingRow } from "./recording_rows";
import { searchable } from "./recordings";
import { fits } from "./search";
import { isOver } from "./state";

const SPEED_KEY = "time.realtime";

/** Title and description in the chosen language. */
function titleAndDescription(one: ScenarioInfo): [string, string] {
  return one.texts ? translated(one.texts) : ["", said(one.description, one.said)];
}

/** Scenarios that fit the search, by engine; files of the user come first. */
export function groupScenarios(all: readonly ScenarioInfo[], search: string): Map<string, ScenarioInfo[]> {
  const groups = new Map<string, ScenarioInfo[]>();
  const isFile = (one: ScenarioInfo): boolean => /\.ya?ml$/.test(one.name);
  for (const one of [...all].sort((a, b) => Number(isFile(b)) - Number(isFile(a)))) {
    const texts = Object.values(one.texts ?? {}).flat();
    if (!fits([one.name, one.engine, one.description, ...texts, one.keywords ?? ""].join(" "), search)) continue;
    const head = isFile(one) ? "files" : one.engine;
    groups.set(head, [...(groups.get(head) ?? []), one]);
  }
  return groups;
}

export class Library {
  readonly element: HTMLElement;
  private readonly search = h("input", {
    type: "search",
    class: "search",
    hint: "library.search",
    tip: "library.search",
  });
  private readonly scenarios = h("div", { class: "scenario-list" });
  private readonly recordings = h("div", { class: "recording-list" });
  private readonly runs = h("div", { class: "run-list" });
  private readonly setup = h("section", { class: "setup", hidden: true });
  private readonly browse: HTMLElement;
  private page: "scenarios" | "recordings" = "scenarios";
  private form: SettingsForm | null = null;
  /** The type of ground that was chosen, if another than the scenario's. */
  private ground: string | undefined;
  private typed = new Typed();

  constructor(
    private readonly lab: Lab,
    private readonly started: () => void,
    close: () => void,
  ) {
    const tabs = h("div", { class: "segments", role: "tablist" });
    for (const name of ["scenarios", "recordings"] as const) {
      const tab = button(
        name === "scenarios" ? "library.scenarios" : "library.recordings",
        () => this.turnTo(name),
        "segment",
      );
      tab.setAttribute("role", "tab");
      tab.dataset.page = name;
      tabs.append(tab);
    }
    this.browse = h("div", { class: "browse" }, this.runs, tabs, this.search, this.scenarios, this.recordings);
    this.element = h(
      "aside",
      { class: "panel left", tip: "library.title" },
      h(
        "header",
        { class: "panel-head" },
        h("h2", { t: "library.title" }),
        iconButton("close", "close", close, "", "icon-button small"),
      ),
      h("div", { class: "panel-body" }, this.browse, this.setup),
    );
    this.search.addEventListener("input", () => this.draw());
    this.lab.onRefused = (fields) => this.form?.refuse(fields);
    lab.store.on(["scenarios", "recordings", "language", "chosen", "recording"], () => this.draw());
    lab.store.on(["runs", "run", "language"], () => this.drawRuns());
    lab.store.on(["language"], () => {
      if (!this.setup.hidden && lab.store.now.chosen) void this.choose(lab.store.now.chosen, this.ground, this.typed);
    });
    this.turnTo("scenarios");
  }

  /** Shows a scenario's settings before it starts. */
  async choose(name: string, terrain?: string, typed = new Typed()): Promise<void> {
    this.lab.store.set({ chosen: name });
    this.ground = terrain;
    this.typed = typed;
    try {
      const form = await this.lab.form(name, terrain);
      if (this.lab.store.now.chosen !== name || this.ground !== terrain) return;
      const start = button("library.start", () => this.start(name), "primary wide", "play");
      // Another ground has other fields.
      this.form = new SettingsForm(
        form,
        () => (start.disabled = !this.form?.valid),
        (kind) => void this.chooseGround(name, kind, typed),
        typed,
      );
      start.disabled = !this.form.valid;
      const [title, about] = titleAndDescription(form);
      this.setup.replaceChildren(
        h(
          "div",
          { class: "setup-head" },
          iconButton("chevron", "library.back", () => this.leaveSetup(), "", "icon-button small flipped"),
          h(
            "div",
            {},
            h("h3", {}, title || form.name),
            title ? h("span", { class: "scenario-name" }, form.name) : "",
            h("span", { class: "engine" }, textOr(`engine.${form.engine}`, form.engine)),
          ),
        ),
        about ? h("p", { class: "muted" }, about) : "",
        h("div", { class: "setup-form" }, this.form.element),
        h("div", { class: "setup-foot" }, start),
      );
      this.browse.hidden = true;
      this.setup.hidden = false;
    } catch (error) {
      this.lab.fail(error);
    }
  }

  private async chooseGround(name: string, kind: string, typed: Typed): Promise<void> {
    await this.choose(name, kind, typed);
    this.setup.querySelector<HTMLElement>(`#${fieldId(TERRAIN_KEY)}`)?.focus();
  }

  private start(name: string): void {
    const set: Record<string, unknown> = { ...this.form?.changes };
    if (this.ground !== undefined) set[TERRAIN_KEY] = this.ground;
    for (const [key, value] of Object.entries(set)) if (value === null) delete set[key];
    const speed = set[SPEED_KEY];
    delete set[SPEED_KEY];
    (document.activeElement as HTMLElement | null)?.blur();
    this.lab.start(name, set, typeof speed === "number" ? speed : undefined);
    this.started();
  }

  private leaveSetup(): void {
    this.lab.store.set({ chosen: null });
    this.browse.hidden = false;
    this.setup.hidden = true;
  }

  private turnTo(page: "scenarios" | "recordings"): void {
    this.page = page;
    for (const tab of this.browse.querySelectorAll<HTMLElement>("[data-page]")) {
      tab.setAttribute("aria-selected", String(tab.dataset.page === page));
    }
    this.scenarios.hidden = page !== "scenarios";
    this.recordings.hidden = page !== "recordings";
    if (page === "recordings" && this.lab.connection.connected)
      this.lab.refreshRecordings().catch((error) => this.lab.fail(error));
    this.draw();
  }

  private draw(): void {
    if (this.page === "recordings") this.drawRecordings();
    else this.drawScenarios();
  }

  private drawScenarios(): void {
    const { scenarios } = this.lab.store.now;
    clear(this.scenarios);
    const groups = groupScenarios(scenarios, this.search.value);
    for (const [head, members] of groups) {
      this.scenarios.append(h("h3", { class: "list-head" }, textOr(`engine.${head}`, head || text("library.other"))));
      for (const one of members) {
        const [title, about] = titleAndDescription(one);
        this.scenarios.append(
          h(
            "div",
            { class: "entry-row" },
            h(
              "button",
              {
                type: "button",
                class: "entry",
                "data-scenario": one.name,
                on: { click: () => void this.choose(one.name) },
              },
              one.picture ? h("img", { class: "thumb", src: one.picture, alt: "", loading: "lazy" }) : "",
              h("strong", {}, title || one.name),
              title ? h("span", { class: "scenario-name" }, one.name) : "",
              h("span", {}, about),
            ),
            iconButton(
              "play",
              "library.startNow",
              () => {
                this.lab.start(one.name, {});
                this.started();
              },
              "",
              "icon-button small start-now",
            ),
          ),
        );
      }
    }
    if (!groups.size && scenarios.length) this.scenarios.append(note("library.none"));
  }

  private drawRecordings(): void {
    const { recordings, recording } = this.lab.store.now;
    clear(this.recordings);
    const found = recordings.filter((one) => fits(searchable(one), this.search.value));
    for (const one of found) this.recordings.append(recordingRow(this.lab, one, one.id === recording));
    if (!found.length) this.recordings.append(note(recordings.length ? "library.none" : "library.noRecordings"));
  }

  private drawRuns(): void {
    const { runs, run: shown } = this.lab.store.now;
    clear(this.runs);
    const going = runs.filter((run) => !isOver(run));
    // The one that is shown has its place in the top bar.
    if (!going.some((run) => run.id !== shown)) return;
    this.runs.append(h("h3", { class: "list-head", t: "library.running" }));
    for (const run of going) {
      this.runs.append(
        h(
          "button",
          {
            type: "button",
            class: `entry ${run.id === shown ? "current" : ""}`,
            "data-run": run.id,
            on: { click: () => void this.lab.showRun(run.id) },
          },
          icon("play"),
          h("strong", {}, run.scenario),
          h("span", {}, textOr(`status.${run.status}`, run.status)),
        ),
      );
    }
  }
}
