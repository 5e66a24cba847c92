// One plot: curves over time, an axis for each unit.
import uPlot from "uplot";
import { h } from "./dom";
import { language, number } from "./i18n";
import type { Series } from "./source";

/** Rows for uPlot from series with moments of their own: all moments, gaps where a curve has none. */
export function joinSeries(all: readonly Series[]): (number | null)[][] {
  const first = all[0];
  if (!first) return [[]];
  const together = all.every(
    (one) =>
      one.t === first.t ||
      (one.t.length === first.t.length && one.t[0] === first.t[0] && last(one.t) === last(first.t)),
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

  /** Values under the pointer as text, otherwise at the moment that is shown, otherwise the last ones, for who shows
   * them outside the plot. */
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
      scales: {
        x: { time: false },
        ...Object.fromEntries(units.map((unit) => [unit || "–", { range: (_plot: uPlot, a: number, b: number) => heights(a, b) }])),
      },
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
      hooks: {
        draw: [(plot) => this.drawMark(plot)],
        setCursor: [(plot) => this.read(plot)],
        setData: [(plot) => this.read(plot)],
      },
    };
    this.plot = new uPlot(options, [[], ...curves.map(() => [])] as unknown as uPlot.AlignedData, this.element);
    if (this.pressed) this.listen(this.plot.over);
  }

  private read(plot: uPlot): void {
    if (!this.readout) return;
    const at = plot.cursor.idx ?? (this.marked === null ? null : plot.valToIdx(this.marked));
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

/** What an axis spans for values between two: a curve that does not move, as a difference of nothing, lies in the middle
 * of an axis about as long as its value. */
export function heights(low: number | null, high: number | null): [number, number] | [null, null] {
  if (low === null || high === null || !Number.isFinite(low + high)) return [null, null];
  if (low !== high) return uPlot.rangeNum(low, high, 0.1, true) as [number, number];
  const about = Math.abs(low) || 1;
  return [low - about, high + about];
}

function tick(value: number): string {
  const size = Math.abs(value);
  const plain = size === 0 || (size < 1e5 && size >= 1e-3);
  const words = (plain ? String(Number(value.toPrecision(6))) : value.toExponential(0)).replaceAll("-", "−");
  return language() === "pt-BR" ? words.replace(".", ",") : words;
}
