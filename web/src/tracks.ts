/** A recording's channels in the page's memory: values at any time, for scrubbing, ghosts and plots. */

import type { LabConnection } from "./connection";
import { text } from "./i18n";
import { mixingOf, mixPiece, type Mixing } from "./interpolation";
import { width, type ChannelInfo, type Lookup } from "./protocol";

export interface Series {
  t: Float64Array;
  y: Float64Array;
}

interface Column {
  start: number;
  width: number;
  mixing: Mixing;
  info: ChannelInfo;
}

/** Rows of a request: a bound for the server's work and for one answer's size. */
const rowsAtOnce = 20000;

export interface TrackOptions {
  /** Rows a second of the recording; thinned so that the whole stays below `longest` rows. */
  rate?: number;
  longest?: number;
  from?: number;
  to?: number;
  onProgress?: (part: number) => void;
  signal?: AbortSignal;
}

export class Track {
  readonly names: string[];
  private readonly columns = new Map<string, Column>();
  private readonly mixed: Float32Array;
  private readonly count: number;
  private near = 0;

  /** `rows`: [time, values of the channels in the order of `channels`…] one after the other. */
  constructor(
    readonly id: string,
    readonly channels: ChannelInfo[],
    private readonly rows: Float32Array,
    readonly duration: number,
  ) {
    this.names = channels.map((channel) => channel[0]);
    let start = 1;
    for (const info of channels) {
      this.columns.set(info[0], { start, width: width(info), mixing: mixingOf(info), info });
      start += width(info);
    }
    this.stride = start;
    this.count = Math.floor(rows.length / start);
    this.mixed = new Float32Array(start);
  }

  private readonly stride: number;

  /** Reads `channels` of a recording; those it does not hold are left out. */
  static async load(
    connection: Pick<LabConnection, "get">,
    recording: string,
    channels: string[],
    known: ChannelInfo[],
    duration: number,
    options: TrackOptions = {},
  ): Promise<Track> {
    const table = new Map(known.map((channel) => [channel[0], channel]));
    const infos = [...new Set(channels)].map((name) => table.get(name)).filter((info) => info !== undefined);
    const from = options.from ?? 0;
    const to = options.to ?? duration;
    const seconds = Math.max(to - from, 1e-9);
    const rate = Math.min(options.rate ?? 60, (options.longest ?? 60000) / seconds);
    const columns = 1 + infos.reduce((sum, info) => sum + width(info), 0);
    const pieces: Float32Array[] = [];
    const span = Math.max(rowsAtOnce / rate, 1);
    const names = infos.map((info) => encodeURIComponent(info[0])).join(",");
    for (let begin = from; infos.length > 0; begin += span) {
      options.signal?.throwIfAborted();
      const end = Math.min(begin + span, to);
      const answer = await connection.get(
        `api/recordings/${encodeURIComponent(recording)}/data?channels=${names}&from=${begin}&to=${end}&rate=${rate}`,
      );
      const got = Number(answer.headers.get("x-botz-columns") ?? columns);
      if (got !== columns) throw new Error(text("error.columns", { got, columns }));
      pieces.push(new Float32Array(await answer.arrayBuffer()));
      options.onProgress?.((end - from) / seconds);
      if (end >= to) break;
    }
    return new Track(recording, infos, joined(pieces, columns), duration);
  }

  /** Rows that are held. */
  get length(): number {
    return this.count;
  }

  /** All values at a time, mixed between the rows round it; [0] is the time. The array is used again by the next call. */
  sample(t: number): Float32Array {
    if (this.count === 0) return this.mixed;
    const i = this.rowBefore(t);
    const j = Math.min(i + 1, this.count - 1);
    const ta = this.rows[i * this.stride]!;
    const tb = this.rows[j * this.stride]!;
    const u = tb > ta ? Math.min(1, Math.max(0, (t - ta) / (tb - ta))) : 0;
    const [a, b] = [i * this.stride, j * this.stride];
    this.mixed[0] = ta + u * (tb - ta);
    for (const column of this.columns.values())
      mixPiece(
        column.mixing,
        this.rows,
        this.rows,
        u,
        a + column.start,
        column.width,
        this.mixed,
        b + column.start,
        column.start,
      );
    return this.mixed;
  }

  has(channel: string): boolean {
    return this.columns.has(channel);
  }

  /** Looks channels up at a time; valid until the next sample. */
  at(t: number): Lookup {
    const values = this.sample(t);
    return (channel) => {
      const column = this.columns.get(channel);
      return column && this.count > 0 ? values.subarray(column.start, column.start + column.width) : null;
    };
  }

  /** All values of one component over time, for plots. */
  series(channel: string, component = 0): Series {
    const column = this.columns.get(channel);
    const n = column ? this.count : 0;
    const t = new Float64Array(n);
    const y = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      t[i] = this.rows[i * this.stride]!;
      y[i] = this.rows[i * this.stride + column!.start + component]!;
    }
    return { t, y };
  }

  /** Points x, y, z of a pose channel, at most `most` of them: for a trail. */
  path(channel: string, most = 2000, upTo = Infinity): Float32Array {
    const column = this.columns.get(channel);
    if (!column || this.count === 0) return new Float32Array(0);
    const last = upTo === Infinity ? this.count - 1 : this.rowBefore(upTo);
    const every = Math.max(1, Math.ceil((last + 1) / most));
    const n = Math.floor(last / every) + 1;
    const points = new Float32Array(3 * n);
    for (let k = 0; k < n; k++) {
      const at = k * every * this.stride + column.start;
      points[3 * k] = this.rows[at]!;
      points[3 * k + 1] = this.rows[at + 1]!;
      points[3 * k + 2] = column.width >= 7 || column.mixing === "numbers" ? (this.rows[at + 2] ?? 0) : 0;
    }
    return points;
  }

  private rowBefore(t: number): number {
    const time = (i: number) => this.rows[i * this.stride]!;
    // Playing forward asks for the same row or the next one.
    if (time(this.near) <= t && (this.near + 1 >= this.count || t < time(this.near + 1))) return this.near;
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (time(middle) <= t) low = middle;
      else high = middle - 1;
    }
    this.near = low;
    return low;
  }
}

/** One array of all rows; a row that two pieces share at their seam is taken once. */
function joined(pieces: Float32Array[], columns: number): Float32Array {
  const kept: Float32Array[] = [];
  let last = -Infinity;
  for (const piece of pieces) {
    let first = 0;
    while (first < piece.length && piece[first]! <= last) first += columns;
    const rest = piece.subarray(first, piece.length - (piece.length % columns));
    if (rest.length === 0) continue;
    last = rest[rest.length - columns]!;
    kept.push(rest);
  }
  if (kept.length === 1) return kept[0]!;
  const all = new Float32Array(kept.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of kept) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
