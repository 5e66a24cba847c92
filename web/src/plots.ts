// Live plots of any channels, beside the view.
import uPlot from "uplot";
import type { Lab } from "./app";
import { button, clear, h, iconButton, note, write } from "./dom";
import { number, text } from "./i18n";
import { componentName, componentUnit, type Series } from "./source";
import { recall, remember } from "./state";

export interface Curve {
  channel: string;
  component: number;
}

export const COLOURS: readonly string[] = ["#5aa9ff", "#f2a541", "#7ee081", "#ff7b72", "#c792ea", "#4dd0c4", "#ffd866", "#f49ac2"];
const WINDOWS: readonly number[] = [5, 15, 30, 60, 0];

/** Rows for uPlot from series with moments of their own: all moments, gaps where a curve has none. */
export function joinSeries(all: readonly Series[]): (number | null)[][] {
  const first = all[0];
  if (!first) return [[]];
  const together = all.every(
    (one) => one.t === first.t || (one.t.length === first.t.length && one.t[0] === first.t[0] && last(one.t) === last(first.t)),
  );
  if (together) return [Array.from(first.t), ...all.map((one) => Array.from(one.y, clean))];
  const moments = Array.from(new Set(all.flatMap((one) => Array.from(one.t)))).sort((a, b) => a - b);
  const place = new Map(moments.map((time, index) => [time, index]));
  const columns = all.map((one) => {
    const column = new Array<number | null | undefined>(moments.length);
    for (let i = 0; i < one.t.length; i += 1) column[place.get(one.t[i]!)!] = clean(one.y[i]!);
    // undefined is "no sample here", which uPlot draws across; null would be a gap.
    return column as (number | null)[];
  });
  return [moments, ...columns];
}

function clean(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function last(list: ArrayLike<number>): number | undefined {
  return list[list.length - 1];
}

/** The part of a series inside a window before a moment, one point more on the left so that the line reaches the edge. */
export function recent(series: Series, from: number): Series {
  const { t, y } = series;
  let low = 0;
  let high = t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t[middle]! < from) low = middle + 1;
    else high = middle;
  }
  const start = Math.max(0, low - 1);
  return { t: Array.prototype.slice.call(t, start) as number[], y: Array.prototype.slice.call(y, start) as number[] };
}

export interface DrawnCurve {
  label: string;
  unit: string;
  colour: string;
  series: Series;
  dash?: number[];
}

/** One uPlot: an axis for each unit, values under the pointer, a line at the moment that is shown. */
export class Chart {
  readonly element = h("div", { class: "chart" });
  private plot: uPlot | null = null;
  private key = "";
  private marked: number | null = null;
  private readonly watcher = new ResizeObserver(() => this.fit());

  /** Values under the pointer as text, or the last ones, for who shows them outside the plot. */
  readout: ((values: string[]) => void) | null = null;

  constructor(
    private readonly height = 170,
    private readonly pressed: ((time: number) => void) | null = null,
    private readonly legend = true,
  ) {
    this.watcher.observe(this.element);
  }

  draw(curves: readonly DrawnCurve[], mark: number | null, range: [number, number] | null): void {
    const key = curves.map((one) => `${one.label}|${one.unit}|${one.colour}`).join("\n");
    if (key !== this.key || !this.plot) this.build(curves, key);
    const { plot } = this;
    if (!plot) return;
    this.marked = mark;
    plot.batch(() => {
      plot.setData(joinSeries(curves.map((one) => one.series)) as uPlot.AlignedData, range === null);
      if (range) {
        // With a window of its own the height still fits what is inside.
        plot.setScale("x", { min: range[0], max: range[1] });
      }
    });
  }

  dispose(): void {
    this.watcher.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }

  private fit(): void {
    const wide = this.element.clientWidth;
    if (this.plot && wide > 40) this.plot.setSize({ width: wide, height: this.height });
  }

  private build(curves: readonly DrawnCurve[], key: string): void {
    this.plot?.destroy();
    this.plot = null;
    this.key = key;
    const wide = this.element.clientWidth;
    if (wide < 40 || curves.length === 0) return void (this.key = "");
    const units = [...new Set(curves.map((one) => one.unit))];
    const grid = { stroke: "rgba(160, 180, 205, 0.10)", width: 1 };
    const font = "11px system-ui, sans-serif";
    const axis = { stroke: "#93a1b3", grid, ticks: { ...grid, size: 4 }, font, labelFont: font, labelSize: 16 };
    const options: uPlot.Options = {
      width: wide,
      height: this.height,
      legend: { show: this.legend, live: true },
      cursor: { points: { size: 6 }, drag: { x: false, y: false }, focus: { prox: 24 } },
      focus: { alpha: 0.55 },
      scales: { x: { time: false } },
      axes: [
        { ...axis, size: 26, values: (_plot, splits) => splits.map((one) => `${tick(one)} s`) },
        ...units.map((unit, index) => ({
          ...axis,
          scale: unit || "–",
          side: (index === 0 ? 3 : 1) as 1 | 3,
          size: 46,
          label: unit || undefined,
          values: (_plot: uPlot, splits: number[]) => splits.map((one) => tick(one)),
          ...(index === 0 ? {} : { grid: { show: false } }),
        })),
      ],
      series: [
        { label: "t", value: (_plot, value) => (value == null ? "–" : `${number(value)} s`) },
        ...curves.map((one) => ({
          label: one.label,
          scale: one.unit || "–",
          stroke: one.colour,
          width: 1.6,
          dash: one.dash,
          spanGaps: true,
          points: { show: false },
          value: (_plot: uPlot, value: number | null) => (value == null ? "–" : `${number(value)} ${one.unit}`.trim()),
        })),
      ],
      hooks: { draw: [(plot) => this.drawMark(plot)], setCursor: [(plot) => this.read(plot)], setData: [(plot) => this.read(plot)] },
    };
    this.plot = new uPlot(options, [[], ...curves.map(() => [])] as unknown as uPlot.AlignedData, this.element);
    if (this.pressed) this.listen(this.plot.over);
  }

  private read(plot: uPlot): void {
    if (!this.readout) return;
    const at = plot.cursor.idx;
    this.readout(
      plot.series.slice(1).map((one, index) => {
        const column = plot.data[index + 1] ?? [];
        let place = at ?? column.length - 1;
        while (place > 0 && column[place] == null) place -= 1;
        const value = column[place];
        return value == null ? "" : `${number(value)} ${one.scale === "–" ? "" : (one.scale ?? "")}`.trim();
      }),
    );
  }

  private listen(over: HTMLElement): void {
    const seek = (event: PointerEvent): void => {
      const at = this.plot?.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
      if (at !== undefined && (event.buttons & 1) === 1) this.pressed?.(at);
    };
    over.addEventListener("pointerdown", seek);
    over.addEventListener("pointermove", seek);
  }

  private drawMark(plot: uPlot): void {
    if (this.marked === null) return;
    const x = plot.valToPos(this.marked, "x", true);
    const { left, top, width, height } = plot.bbox;
    if (!(x >= left && x <= left + width)) return;
    plot.ctx.save();
    plot.ctx.strokeStyle = "rgba(255, 255, 255, 0.65)";
    plot.ctx.lineWidth = devicePixelRatio;
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, top);
    plot.ctx.lineTo(x, top + height);
    plot.ctx.stroke();
    plot.ctx.restore();
  }
}

function tick(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(0).replace("-", "−");
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

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
    return this.plots.some((plot) => plot.some((one) => one.channel === curve.channel && one.component === curve.component));
  }

  remove(curve: Curve): void {
    this.plots = this.plots.map((plot) => plot.filter((one) => one.channel !== curve.channel || one.component !== curve.component));
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
    const from = span ? Math.max(0, end - span) : 0;
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
    const more = button("plots.new", () => {
      this.plots.push([]);
      this.target = this.plots.length - 1;
      this.build();
    }, "quiet", "plus");
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
        iconButton("close", "plots.remove", () => {
          this.plots[index] = plot.filter((one) => one !== curve);
          this.changed();
        }, "", "chip-close"),
      ),
    );
    const values = chips.map((chip) => chip.querySelector("b")!);
    chart.readout = (words) => words.forEach((word, place) => values[place] && write(values[place], word));
    const drop = iconButton("close", "plots.drop", () => {
      this.plots.splice(index, 1);
      this.changed();
    }, "", "icon-button small");
    return h("section", { class: "card" }, h("div", { class: "row spread" }, picker, drop), h("div", { class: "chips" }, ...chips), chart.element);
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
            ...channel[3].map((component, place) => h("option", { value: `${channel[0]}#${place}` }, `${channel[0]} · ${component}`)),
          )
        : h("option", { value: `${channel[0]}#0` }, channel[0]),
    );
    const select = h("select", { tip: "plots.add", class: "grow" }, h("option", { value: "", t: "plots.add" }), ...options);
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
