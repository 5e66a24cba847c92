/** From frames that come when they come to values at any moment in between: what makes 60 pictures a second of 30. */

import { width, type ChannelInfo } from "./protocol";

/** How the numbers of a channel are to be mixed. */
export type Mixing = "numbers" | "pose7" | "pose3" | "flags";

export interface Sampled {
  /** Time of the run [s]. */
  time: number;
  values: Float32Array;
  /** Step of the run, mixed too; whole where a frame is shown as it came. */
  step: number;
}

interface Frame {
  step: number;
  at: number;
  values: Float32Array;
}

interface Piece {
  name: string;
  start: number;
  width: number;
  mixing: Mixing;
}

/** Frames are kept for this long [s]; the newest few whatever their age. */
const keptSeconds = 2.0;
/** Motion goes on for at most this long [s] when no frame has come. */
const longestExtrapolation = 0.05;

export class FrameBuffer {
  readonly names: string[];
  /** Numbers in a frame. */
  readonly size: number;
  private readonly pieces: Piece[] = [];
  private readonly places = new Map<string, Piece>();
  private frames: Frame[] = [];
  private readonly mixed: Float32Array;
  /** Local clock minus the server's [s], of the frame that travelled fastest lately. */
  private offset = NaN;
  /** Usual gap between frames and how late they come [s]. */
  private gap = 1 / 60;
  private lateness = 0;
  private shownAt = -Infinity;

  /** `stepSeconds`: a step of the run [s], for `time`; without it `time` counts steps. */
  constructor(
    channels: ChannelInfo[],
    names: string[],
    private readonly stepSeconds = 1,
  ) {
    this.names = names;
    let start = 0;
    const known = new Map(channels.map((channel) => [channel[0], channel]));
    for (const name of names) {
      const channel = known.get(name);
      const wide = channel ? width(channel) : 1;
      const piece = { name, start, width: wide, mixing: channel ? mixingOf(channel) : "numbers" } as Piece;
      this.pieces.push(piece);
      this.places.set(name, piece);
      start += wide;
    }
    this.size = start;
    this.mixed = new Float32Array(start);
  }

  /** Takes a frame. `serverTime` and `now` are seconds of the server's clock and of the page's. */
  push(step: number, serverTime: number, values: Float32Array, now = performance.now() / 1000): void {
    const last = this.frames.at(-1);
    if (last && (step < last.step || serverTime < last.at)) this.clear();
    const previous = this.frames.at(-1);
    const offset = now - serverTime;
    if (Number.isNaN(this.offset)) this.offset = offset;
    // The fastest frame tells the clocks' difference; it may grow again slowly, as clocks drift and routes change.
    this.offset = Math.min(offset, this.offset + (previous ? 0.01 * (serverTime - previous.at) : 0));
    if (previous) {
      const gap = serverTime - previous.at;
      if (gap < 0.5) this.gap += 0.1 * (gap - this.gap);
    }
    const late = offset - this.offset;
    this.lateness = late > this.lateness ? late : this.lateness + 0.02 * (late - this.lateness);
    this.frames.push({ step, at: serverTime, values: Float32Array.from(values) });
    while (this.frames.length > 4 && this.frames[1]!.at < serverTime - keptSeconds) this.frames.shift();
  }

  /** Values to show at `now` (seconds of the page's clock), about one frame behind; null before the first frame. */
  sample(now = performance.now() / 1000): Sampled | null {
    const frames = this.frames;
    const newest = frames.at(-1);
    if (!newest) return null;
    // Late enough that the next frame is mostly there, early enough that hands feel no delay.
    let at = now - this.offset - this.delay;
    at = Math.max(at, Math.min(this.shownAt, newest.at)); // a growing delay must not run time backwards
    this.shownAt = at;
    if (frames.length === 1 || at <= frames[0]!.at) return this.exactly(frames.length === 1 ? newest : frames[0]!);
    let i = frames.length - 2;
    while (i > 0 && frames[i]!.at > at) i--;
    const a = frames[i]!;
    const b = frames[i + 1]!;
    if (b.step === a.step || b.at <= a.at) return this.exactly(b);
    // A pause in the stream is a pause of the run: nothing moved until the next frame was near.
    const from = Math.max(a.at, b.at - Math.max(3 * this.gap, 0.1));
    const beyond = Math.min(at, newest.at + Math.min(longestExtrapolation, this.gap));
    const u = Math.max(0, (beyond - from) / (b.at - from));
    this.mix(a, b, u);
    const step = a.step + u * (b.step - a.step);
    return { time: step * this.stepSeconds, values: this.mixed, step };
  }

  /** How far behind the newest frame the picture is meant to be [s]. */
  get delay(): number {
    return Math.min(0.25, 1.05 * this.gap + Math.min(this.lateness, 0.2));
  }

  /** The newest frame, not interpolated. */
  latest(): Sampled | null {
    const newest = this.frames.at(-1);
    return newest ? this.exactly(newest) : null;
  }

  /** Values of a channel in a sample's numbers; null for one that is not watched. */
  channel(name: string, values: Float32Array): Float32Array | null {
    const piece = this.places.get(name);
    return piece ? values.subarray(piece.start, piece.start + piece.width) : null;
  }

  clear(): void {
    this.frames = [];
    this.offset = NaN;
    this.lateness = 0;
    this.shownAt = -Infinity;
  }

  private exactly(frame: Frame): Sampled {
    return { time: frame.step * this.stepSeconds, values: frame.values, step: frame.step };
  }

  private mix(a: Frame, b: Frame, u: number): void {
    for (const piece of this.pieces) mixPiece(piece.mixing, a.values, b.values, u, piece.start, piece.width, this.mixed);
  }
}

/** By its components: poses are turned the short way, flags and counts are not mixed. */
export function mixingOf(channel: ChannelInfo): Mixing {
  const [name, unit, , components] = channel;
  const last = components.map((component) => component.split(/[._/]/).at(-1)!.toLowerCase());
  if (components.length === 7 && isQuaternion(last.slice(3))) return "pose7";
  if (components.length === 3 && last[0] === "x" && last[1] === "y" && /^(heading|yaw|theta|θ|psi|ψ)$/.test(last[2]!))
    return "pose3";
  // Pure numbers that count or say yes and no.
  if (unit === "1" && /(^|\/)(playing|held|touching|score|ticks|impacts|number|halt)$/.test(name)) return "flags";
  return "numbers";
}

function isQuaternion(names: string[]): boolean {
  const bare = names.map((name) => name.replace(/^q(uat)?_?/, ""));
  return bare.join("") === "wxyz";
}

/** Mixes one channel of rows a and b into `out`, all beginning at `start`. */
export function mixPiece(
  mixing: Mixing,
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  u: number,
  start: number,
  wide: number,
  out: Float32Array | number[],
  startB = start,
  startOut = start,
): void {
  const plain = mixing === "pose7" ? 3 : mixing === "pose3" ? 2 : mixing === "flags" ? 0 : wide;
  for (let i = 0; i < plain; i++) {
    const x = a[start + i]!;
    const y = b[startB + i]!;
    // A number that is missing on one side (NaN) stays as it is on the nearer one.
    out[startOut + i] = Number.isFinite(x) && Number.isFinite(y) ? x + u * (y - x) : u < 0.5 ? x : y;
  }
  if (mixing === "pose7") slerp(a, b, u, start + 3, startB + 3, startOut + 3, out);
  else if (mixing === "pose3") out[startOut + 2] = mixAngle(a[start + 2]!, b[startB + 2]!, u);
  else if (mixing === "flags")
    for (let i = 0; i < wide; i++) out[startOut + i] = u < 1 ? a[start + i]! : b[startB + i]!;
}

/** From angle a towards b by the shorter arc. */
export function mixAngle(a: number, b: number, u: number): number {
  let turn = (b - a) % (2 * Math.PI);
  if (turn > Math.PI) turn -= 2 * Math.PI;
  else if (turn < -Math.PI) turn += 2 * Math.PI;
  return a + u * turn;
}

function slerp(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  u: number,
  ia: number,
  ib: number,
  io: number,
  out: Float32Array | number[],
): void {
  let dot = 0;
  for (let i = 0; i < 4; i++) dot += a[ia + i]! * b[ib + i]!;
  const sign = dot < 0 ? -1 : 1;
  dot = Math.min(1, Math.abs(dot));
  let wa = 1 - u;
  let wb = u;
  if (dot < 0.9995) {
    const angle = Math.acos(dot);
    const s = Math.sin(angle);
    wa = Math.sin((1 - u) * angle) / s;
    wb = Math.sin(u * angle) / s;
  }
  let norm = 0;
  const q = [0, 0, 0, 0];
  for (let i = 0; i < 4; i++) {
    q[i] = wa * a[ia + i]! + sign * wb * b[ib + i]!;
    norm += q[i]! * q[i]!;
  }
  const scale = norm > 0 ? 1 / Math.sqrt(norm) : 0;
  for (let i = 0; i < 4; i++) out[io + i] = scale > 0 ? q[i]! * scale : a[ia + i]!;
}
