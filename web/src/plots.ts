// Live plots of any channels, beside the view.
import type { Lab } from "./app";
import { Chart, recent, type DrawnCurve } from "./chart";
import { button, clear, h, iconButton, note, write } from "./dom";
import { text } from "./i18n";
import { componentName, componentUnit } from "./source";
import { recall, remember } from "./state";

export interface Curve {
  channel: string;
  component: number;
}

export const COLOURS: readonly string[] = [
  "#5aa9ff",
  "#f2a541",
  "#7ee081",
  "#ff7b72",
  "#c792ea",
  "#4dd0c4",
  "#ffd866",
  "#f49ac2",
];
const WINDOWS: readonly number[] = [5, 15, 30, 60, 0];

/** The panel: several plots, each with its curves. */
export class Plots {
  readonly element = h("div", { class: "plots" });
  private plots: Curve[][] = [];
  private charts: Chart[] = [];
  private target = 0;
  private window = recall("plots.window", 15);
  private seen = -1;
  private seenTime = NaN;
  private for_ = "";
  open = false;

  constructor(private readonly lab: Lab) {
    lab.store.on(["channels"], () => this.channelsChanged());
    lab.store.on(["language"], () => this.build());
  }

  /** Adds a curve to the plot that was chosen last, to a new one where its unit would be a third. */
  add(curve: Curve): void {
    if (!this.plots.length) this.plots.push([]);
    this.target = Math.min(this.target, this.plots.length - 1);
    let plot = this.plots[this.target]!;
    if (plot.some((one) => one.channel === curve.channel && one.component === curve.component)) return;
    const units = new Set([...plot, curve].map((one) => this.unit(one)));
    if (units.size > 2 || plot.length >= COLOURS.length) {
      this.plots.push((plot = []));
      this.target = this.plots.length - 1;
    }
    plot.push(curve);
    this.changed();
  }

  has(curve: Curve): boolean {
    return this.plots.some((plot) =>
      plot.some((one) => one.channel === curve.channel && one.component === curve.component),
    );
  }

  remove(curve: Curve): void {
    this.plots = this.plots.map((plot) =>
      plot.filter((one) => one.channel !== curve.channel || one.component !== curve.component),
    );
    this.changed();
  }

  setOpen(open: boolean): void {
    this.open = open;
    this.seen = -1;
    this.wish();
    if (open) this.build();
  }

  /** Draws what is new; called ten times a second. */
  tick(): void {
    const { source } = this.lab;
    if (!this.open || !source || !this.element.isConnected) return;
    if (source.version === this.seen && source.time === this.seenTime) return;
    this.seen = source.version;
    this.seenTime = source.time;
    const replay = this.lab.replay !== null;
    const end = replay ? this.lab.replay!.playback.duration : (this.lab.live?.lastFrame?.time ?? source.time);
    const span = replay ? 0 : this.window;
    const from = span ? Math.max(0, end - span) : (this.lab.replay?.playback.first ?? 0);
    this.plots.forEach((plot, index) => {
      const curves = plot.map((curve, place): DrawnCurve => {
        const whole = source.series(curve.channel, curve.component) ?? { t: [], y: [] };
        return {
          label: this.name(curve),
          unit: this.unit(curve),
          colour: COLOURS[place % COLOURS.length]!,
          series: span ? recent(whole, from) : whole,
        };
      });
      const range: [number, number] | null = span ? [from, from + Math.max(span, 1e-3)] : null;
      this.charts[index]?.draw(curves, replay ? source.time : null, range);
    });
  }

  private channelsChanged(): void {
    const { channels } = this.lab.store.now;
    if (!channels.length) return; // a run that starts, or has ended: what was chosen stays
    const names = new Map(channels.map((one) => [one[0], one]));
    const scenario = this.lab.store.currentRun?.scenario ?? this.lab.store.now.details?.scenario ?? "";
    if (scenario && scenario !== this.for_) {
      this.for_ = scenario;
      this.plots = recall<Curve[][]>(`plots.${scenario}`, []);
    }
    this.plots = this.plots.map((plot) => plot.filter((one) => names.has(one.channel))).filter((plot) => plot.length);
    if (!this.plots.length) this.plots = this.suggestion();
    this.wish();
    this.build();
  }

  /** Something to look at before anything was chosen: a pose and a speed. */
  private suggestion(): Curve[][] {
    const { channels } = this.lab.store.now;
    const pick = (pattern: RegExp): Curve[] => {
      const channel = channels.find((one) => pattern.test(one[0]));
      const count = Math.min(3, Math.max(1, channel?.[3].length ?? 0));
      return channel ? Array.from({ length: count }, (_, component) => ({ channel: channel[0], component })) : [];
    };
    return [pick(/(twist|velocity|speed)$/), pick(/(pose|position|joints)$/)].filter((plot) => plot.length);
  }

  private changed(): void {
    if (this.for_) remember(`plots.${this.for_}`, this.plots);
    this.wish();
    this.build();
  }

  private wish(): void {
    this.lab.wish("plots", [], this.open ? this.plots.flat().map((one) => one.channel) : []);
  }

  private info(curve: Curve) {
    return this.lab.store.now.channels.find((one) => one[0] === curve.channel);
  }

  private name(curve: Curve): string {
    const info = this.info(curve);
    return info ? componentName(info, curve.component) : curve.channel;
  }

  private unit(curve: Curve): string {
    const info = this.info(curve);
    return info ? componentUnit(info, curve.component) : "";
  }

  private build(): void {
    for (const chart of this.charts) chart.dispose();
    this.charts = [];
    this.seen = -1;
    clear(this.element);
    if (!this.open) return;
    if (!this.lab.store.now.channels.length) return void this.element.append(note("numbers.empty"));
    const live = this.lab.store.now.mode === "live";
    const windows = h(
      "label",
      { class: "inline" },
      h("span", { t: "plots.window" }),
      h(
        "select",
        { on: { change: (event) => this.setWindow(Number((event.target as HTMLSelectElement).value)) } },
        ...WINDOWS.map((one) =>
          h("option", { value: one, selected: one === this.window }, one ? `${one} s` : text("plots.all")),
        ),
      ),
    );
    const more = button(
      "plots.new",
      () => {
        this.plots.push([]);
        this.target = this.plots.length - 1;
        this.build();
      },
      "quiet",
      "plus",
    );
    this.element.append(h("div", { class: "row spread" }, live ? windows : h("span", {}), more));
    this.plots.forEach((plot, index) => this.element.append(this.card(plot, index)));
    this.element.append(note("plots.hint"));
  }

  private card(plot: Curve[], index: number): HTMLElement {
    const chart = new Chart(180, (time) => this.lab.replay?.playback.seek(time), false);
    this.charts[index] = chart;
    const picker = this.picker(index);
    const chips = plot.map((curve, place) =>
      h(
        "span",
        { class: "chip" },
        this.swatch(place),
        h("span", { class: "chip-name" }, this.name(curve)),
        h("b", {}),
        iconButton(
          "close",
          "plots.remove",
          () => {
            this.plots[index] = plot.filter((one) => one !== curve);
            this.changed();
          },
          "",
          "chip-close",
        ),
      ),
    );
    const values = chips.map((chip) => chip.querySelector("b")!);
    chart.readout = (words) => words.forEach((word, place) => values[place] && write(values[place], word));
    const drop = iconButton(
      "close",
      "plots.drop",
      () => {
        this.plots.splice(index, 1);
        this.changed();
      },
      "",
      "icon-button small",
    );
    return h(
      "section",
      { class: "card" },
      h("div", { class: "row spread" }, picker, drop),
      h("div", { class: "chips" }, ...chips),
      chart.element,
    );
  }

  private swatch(place: number): HTMLElement {
    const dot = h("i", { class: "swatch" });
    dot.style.background = COLOURS[place % COLOURS.length]!;
    return dot;
  }

  private picker(index: number): HTMLElement {
    const options = this.lab.store.now.channels.map((channel) =>
      channel[3].length > 1
        ? h(
            "optgroup",
            { label: channel[0] },
            ...channel[3].map((component, place) =>
              h("option", { value: `${channel[0]}#${place}` }, `${channel[0]} · ${component}`),
            ),
          )
        : h("option", { value: `${channel[0]}#0` }, channel[0]),
    );
    const select = h(
      "select",
      { tip: "plots.add", class: "grow" },
      h("option", { value: "", t: "plots.add" }),
      ...options,
    );
    select.addEventListener("change", () => {
      const at = select.value.lastIndexOf("#");
      if (at < 0) return;
      this.target = index;
      this.add({ channel: select.value.slice(0, at), component: Number(select.value.slice(at + 1)) });
    });
    return select;
  }

  private setWindow(seconds: number): void {
    this.window = seconds;
    remember("plots.window", seconds);
    this.seen = -1;
  }
}
