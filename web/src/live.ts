// Numbers of a run that is going on: asks for the channels that are needed, keeps the past of those that are plotted.
import type { LabConnection } from "./connection";
import { FrameBuffer } from "./interpolation";
import { floats, width, type ChannelInfo, type RunInfo, type ServerMessages } from "./protocol";
import { RateChoice } from "./rate";
import type { Series, Source } from "./source";

/** The past that plots keep: rows of a channel, so that an hour in front of the page costs no more than a minute. */
const MOST_ROWS = 7200;

/** The past of one channel: moments and all its components. */
export class History {
  readonly t: number[] = [];
  private readonly columns: number[][];

  constructor(wide: number) {
    this.columns = Array.from({ length: wide }, () => []);
  }

  add(time: number, values: ArrayLike<number>): void {
    const last = this.t[this.t.length - 1];
    // A reset begins anew; a pause sends the same moment again.
    if (last !== undefined && time < last) this.clear();
    else if (last === time) return;
    this.t.push(time);
    this.columns.forEach((column, index) => column.push(values[index] ?? NaN));
    if (this.t.length > MOST_ROWS + 600) {
      this.t.splice(0, 600);
      for (const column of this.columns) column.splice(0, 600);
    }
  }

  series(component: number): Series {
    return { t: this.t, y: this.columns[component] ?? [] };
  }

  clear(): void {
    this.t.length = 0;
    for (const column of this.columns) column.length = 0;
  }
}

export class LiveSource implements Source {
  readonly channels: readonly ChannelInfo[];
  time = 0;
  version = 0;
  /** The newest frame as it came. */
  lastFrame: { step: number; time: number; at: number; acknowledged: number } | null = null;
  readonly rate = new RateChoice();
  private readonly table: Map<string, ChannelInfo>;
  private readonly stepSeconds: number;
  private buffer: FrameBuffer | null = null;
  /** Buffer of the subscription that was asked for last, until its first frame is there. */
  private next: { k: number; buffer: FrameBuffer } | null = null;
  private subscription = -1;
  private shown: Float32Array | null = null;
  private asked: string[] = [];
  private plotted = new Set<string>();
  private readonly past = new Map<string, History>();
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly connection: LabConnection,
    readonly run: RunInfo,
  ) {
    this.channels = run.channels;
    this.table = new Map(run.channels.map((channel) => [channel[0], channel]));
    this.stepSeconds = run.step_ns * 1e-9;
  }

  need(names: readonly string[], plotted: readonly string[]): void {
    this.plotted = new Set(plotted.filter((name) => this.table.has(name)));
    const wanted = [...new Set([...names, ...plotted])].filter((name) => this.table.has(name));
    const same = wanted.length === this.asked.length && wanted.every((name, index) => name === this.asked[index]);
    if (same) return;
    this.asked = wanted;
    // Several parts of the page change their wishes at once: one message serves them all.
    this.timer ??= setTimeout(() => this.watch(), 30);
  }

  /** Asks for the wanted channels (again: after a new connection or with another rate). */
  watch(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.rate.rest();
    if (this.asked.length) {
      this.connection.send({ t: "watch", run: this.run.id, channels: this.asked, rate: this.rate.rate });
    }
  }

  watching(message: ServerMessages["watching"]): void {
    if (message.channels.length === 0) return; // the end of a subscription before this one
    const buffer = new FrameBuffer([...this.channels], message.channels, this.stepSeconds);
    this.next = { k: message.k, buffer };
  }

  frame(message: ServerMessages["frame"], at: number): void {
    if (this.next?.k === message.k) {
      this.buffer = this.next.buffer;
      this.subscription = message.k;
      this.next = null;
    }
    if (this.buffer === null || message.k !== this.subscription) return;
    const values = floats(message.v);
    if (values.length !== this.buffer.size) return;
    this.rate.note();
    this.buffer.push(message.s, message.x, values, at / 1000);
    const time = message.s * this.stepSeconds;
    this.lastFrame = { step: message.s, time, at, acknowledged: message.a };
    for (const name of this.plotted) {
      const piece = this.buffer.channel(name, values);
      if (piece === null) continue;
      let history = this.past.get(name);
      if (!history) this.past.set(name, (history = new History(width(this.table.get(name)!))));
      history.add(time, piece);
    }
    this.version += 1;
  }

  sample(now: number): boolean {
    const sampled = this.buffer?.sample(now / 1000) ?? null;
    if (sampled === null) return false;
    this.time = sampled.time;
    this.shown = sampled.values;
    return true;
  }

  readonly lookup = (name: string): ArrayLike<number> | null =>
    this.shown && this.buffer ? this.buffer.channel(name, this.shown) : null;

  /** Values of the newest frame, not mixed: for tests and measurements. */
  newest(name: string): number[] | null {
    const latest = this.buffer?.latest();
    const values = latest && this.buffer!.channel(name, latest.values);
    return values ? [...values] : null;
  }

  series(channel: string, component: number): Series | null {
    return this.past.get(channel)?.series(component) ?? null;
  }

  /** Forgets the past, as after a reset. */
  restart(): void {
    for (const history of this.past.values()) history.clear();
    this.buffer?.clear();
    this.version += 1;
  }

  /** Ends the subscription too, unless the server does not know the run any more. */
  close(known = true): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (known && this.asked.length)
      this.connection.send({ t: "watch", run: this.run.id, channels: [], rate: this.rate.rate });
    this.asked = [];
  }
}
