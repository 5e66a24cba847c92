// Other runs as ghosts in the same view, and the difference of a channel between them and the one that is shown.
import type { Lab } from "./app";
import { Chart, type DrawnCurve } from "./chart";
import { comparable, difference, isAngle } from "./compare";
import { clear, h, note } from "./dom";
import { clock, number, text } from "./i18n";
import type { Panel } from "./panels";
import { changesLine, changesTip, titleOf, when } from "./recordings";
import { componentName, componentUnit, type Series } from "./source";

const MOST_LISTED = 60;

export class ComparePanel implements Panel {
  readonly element = h("div", { class: "compare" });
  private readonly search = h("input", {
    type: "search",
    class: "search",
    hint: "compare.search",
    tip: "compare.search",
  });
  private readonly list = h("div", { class: "recording-list" });
  private readonly results = h("div", { class: "compare-results" });
  private readonly select = h("select", { tip: "compare.channel", class: "grow" });
  private readonly both = new Chart(150, (time) => this.lab.replay?.playback.seek(time));
  private readonly apart = new Chart(150, (time) => this.lab.replay?.playback.seek(time));
  private curves: DrawnCurve[] = [];
  private differences: DrawnCurve[] = [];
  private chosen = "";
  private open = false;
  private turn = 0;
  private seenVersion = -1;
  private readonly busy = new Set<string>();

  constructor(private readonly lab: Lab) {
    this.element.append(this.search, this.list, this.results);
    this.search.addEventListener("input", () => this.draw());
    this.select.addEventListener("change", () => {
      this.chosen = this.select.value;
      void this.compute();
    });
    lab.store.on(["recordings", "recording", "mode", "ghosts", "language"], () => this.draw());
    lab.store.on(["channels", "ghosts"], () => this.drawChoices());
  }

  setOpen(open: boolean): void {
    this.open = open;
    if (open) {
      this.lab.refreshRecordings().catch((error) => this.lab.fail(error));
      void this.compute();
    } else this.lab.wish("compare", []);
  }

  tick(): void {
    const { replay, store } = this.lab;
    if (!replay || !store.now.ghosts.length) return;
    // Also before the first difference: the channel's numbers may still be on their way.
    if (replay.version !== this.seenVersion) void this.compute();
    if (!this.differences.length) return;
    this.both.draw(this.curves, replay.time, null);
    this.apart.draw(this.differences, replay.time, null);
  }

  private draw(): void {
    const { recordings, recording, ghosts, mode } = this.lab.store.now;
    const place = this.list.scrollTop;
    clear(this.list);
    this.search.hidden = mode === "none";
    if (mode === "none") return void this.list.append(note("compare.empty"));
    const hint = mode === "live" ? "compare.live" : ghosts.length ? null : "compare.hint";
    if (hint) this.list.append(h("p", { class: "muted", t: hint }));
    const scenario = this.lab.store.now.details?.scenario ?? this.lab.store.currentRun?.scenario;
    const chosen = ghosts.map((one) => one.id);
    const others = comparable(recordings, { recording, scenario, chosen }, this.search.value);
    for (const one of others.slice(0, MOST_LISTED)) {
      const ghost = ghosts.find((each) => each.id === one.id);
      const box = h("input", { type: "checkbox", class: "switch", checked: ghost !== undefined, "data-ghost": one.id });
      box.disabled = this.busy.has(one.id);
      box.addEventListener("change", () => void this.toggle(one.id, box.checked));
      const dot = h("i", { class: "swatch" });
      const changes = one.changes ?? [];
      if (ghost) dot.style.background = ghost.colour;
      this.list.append(
        h(
          "label",
          { class: "switch-row", title: changesTip(changes) || undefined },
          dot,
          h(
            "span",
            {},
            h("b", {}, titleOf(one)),
            changes.length ? h("small", { class: "changes" }, changesLine(changes)) : "",
            h("small", {}, `${when(one.started)} · ${clock(one.duration, 1)}`),
          ),
          box,
        ),
      );
    }
    if (!others.length) this.list.append(note(this.search.value ? "library.none" : "compare.none"));
    this.list.scrollTop = place;
  }

  private async toggle(id: string, on: boolean): Promise<void> {
    if (!on) return this.lab.ghosts.remove(id);
    this.busy.add(id);
    this.draw();
    try {
      await this.lab.ghosts.add(id);
    } catch (error) {
      this.lab.fail(error);
    } finally {
      this.busy.delete(id);
      this.draw();
    }
  }

  private drawChoices(): void {
    const { channels, ghosts, mode } = this.lab.store.now;
    clear(this.results);
    if (!ghosts.length || mode !== "replay") {
      this.differences = [];
      return this.lab.wish("compare", []);
    }
    const options = channels.flatMap((channel) =>
      Array.from({ length: Math.max(1, channel[3].length) }, (_, place) => ({
        value: `${channel[0]}#${place}`,
        label: componentName(channel, place),
      })),
    );
    if (!options.some((one) => one.value === this.chosen)) {
      this.chosen = (options.find((one) => /pose#0$/.test(one.value)) ?? options[0])?.value ?? "";
    }
    this.select.replaceChildren(
      ...options.map((one) => h("option", { value: one.value, selected: one.value === this.chosen }, one.label)),
    );
    this.results.append(
      h("div", { class: "row spread" }, h("h3", { t: "compare.difference" }), this.select),
      h("p", { class: "muted", t: "compare.minus" }),
      this.apart.element,
      h("div", { class: "difference-table" }),
      this.both.element,
    );
    void this.compute();
  }

  private async compute(): Promise<void> {
    const turn = (this.turn += 1);
    const at = this.chosen.lastIndexOf("#");
    const { replay, store } = this.lab;
    if (!this.open || !replay || at < 0 || !store.now.ghosts.length) return;
    const channel = this.chosen.slice(0, at);
    const component = Number(this.chosen.slice(at + 1));
    const info = store.now.channels.find((one) => one[0] === channel);
    if (!info) return;
    this.lab.wish("compare", [], [channel]);
    this.seenVersion = replay.version;
    const main = replay.series(channel, component);
    if (!main) return; // comes with a later version
    const unit = componentUnit(info, component);
    const angle = isAngle(channel, info[3][component] ?? "", unit);
    const curves: DrawnCurve[] = [{ label: text("compare.this"), unit, colour: "#e8edf4", series: main }];
    const differences: DrawnCurve[] = [];
    const rows: HTMLElement[] = [];
    for (const ghost of store.now.ghosts) {
      const series: Series | null = await this.lab.ghosts.series(ghost.id, channel, component);
      if (turn !== this.turn) return;
      if (!series) continue;
      const found = difference(main, series, angle);
      const listed = store.now.recordings.find((one) => one.id === ghost.id);
      const label = listed ? listed.name || when(listed.started) : ghost.id;
      curves.push({ label, unit, colour: ghost.colour, series });
      differences.push({ label: `Δ ${label}`, unit, colour: ghost.colour, series: found });
      const dot = h("i", { class: "swatch" });
      dot.style.background = ghost.colour;
      rows.push(
        h(
          "div",
          { class: "legend-row", "data-difference": ghost.id },
          dot,
          h("span", {}, text("compare.rms", { value: `${number(found.rms)} ${unit}` })),
          h(
            "small",
            {},
            text("compare.largest", { value: `${number(found.largest)} ${unit}`, time: clock(found.largestAt) }),
          ),
        ),
      );
    }
    this.curves = curves;
    this.differences = differences;
    this.results.querySelector(".difference-table")?.replaceChildren(...rows);
    this.lab.note("difference", {
      channel,
      component,
      of: store.now.ghosts.map((one) => one.id),
      rms: rows.map((one) => one.textContent),
    });
    this.tick();
  }
}
