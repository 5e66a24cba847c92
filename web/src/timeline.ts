// Playing a recording: the moment that is shown, and how it moves on.

export const SPEEDS: readonly number[] = [-8, -4, -2, -1, -0.5, -0.25, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

export class Playback {
  time: number;
  playing = false;
  speed = 1;
  loop = false;

  constructor(
    /** When the recording ends [s]. */
    readonly duration: number,
    /** Time between two pictures of the recording [s]. */
    readonly frame = 1 / 60,
    /** When the recording begins [s]: later than 0 where its run began in a state of another one. */
    readonly first = 0,
  ) {
    this.time = first;
  }

  /** Where a moment lies between the beginning, 0, and the end, 1. */
  part(time: number): number {
    return this.duration > this.first ? (time - this.first) / (this.duration - this.first) : 0;
  }

  /** Lets `seconds` of the wall clock pass; true when the shown moment changed. */
  advance(seconds: number): boolean {
    if (!this.playing || this.duration <= this.first) return false;
    const before = this.time;
    let time = this.time + this.speed * seconds;
    if (time < this.first || time > this.duration) {
      const span = this.duration - this.first;
      if (this.loop) time = this.first + ((((time - this.first) % span) + span) % span);
      else this.playing = false;
    }
    this.time = this.clamp(time);
    return this.time !== before;
  }

  seek(time: number): void {
    this.time = this.clamp(time);
  }

  /** One picture on or back; playing stops, as one looks closely. */
  stepFrames(count: number): void {
    this.playing = false;
    // From picture to picture: a moment in between first goes to the next one.
    const at = this.time / this.frame;
    const next = count > 0 ? Math.floor(at + 1e-6) + count : Math.ceil(at - 1e-6) + count;
    this.seek(next * this.frame);
  }

  /** Play or pause; at the end (or, backwards, at the start) play begins anew. */
  toggle(): void {
    this.playing = !this.playing;
    if (!this.playing) return;
    if (this.speed > 0 && this.time >= this.duration) this.time = this.first;
    if (this.speed < 0 && this.time <= this.first) this.time = this.duration;
  }

  reverse(): void {
    this.speed = -this.speed;
  }

  /** The next speed of the list, up or down; play goes backwards below the slowest. */
  changeSpeed(by: 1 | -1): void {
    this.speed = nextSpeed(SPEEDS, this.speed, by);
  }

  private clamp(time: number): number {
    return Math.max(this.first, Math.min(this.duration, Number.isFinite(time) ? time : this.first));
  }
}

/** The neighbour of a number in an ascending list. */
export function nextSpeed(list: readonly number[], now: number, by: 1 | -1): number {
  if (by > 0) return list.find((one) => one > now + 1e-9) ?? list[list.length - 1]!;
  return [...list].reverse().find((one) => one < now - 1e-9) ?? list[0]!;
}

/** Factors of a running simulation; 0 is as fast as it can. */
export const FACTORS: readonly number[] = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export function nextFactor(now: number, by: 1 | -1): number {
  // Beyond the fastest comes "as fast as possible", and back again.
  const fastest = FACTORS[FACTORS.length - 1]!;
  if (now === 0) return by > 0 ? 0 : fastest;
  if (by > 0 && now >= fastest) return 0;
  return nextSpeed(FACTORS, now, by);
}

/** How fast a run goes: time of the run in a second of the wall clock, smoothed over about a second. */
export class RealTimeMeter {
  private points: { time: number; at: number }[] = [];

  note(time: number, atMs: number): number | null {
    const last = this.points[this.points.length - 1];
    if (last && time < last.time) this.points = [];
    this.points.push({ time, at: atMs });
    while (this.points.length > 2 && atMs - this.points[0]!.at > 1500) this.points.shift();
    const first = this.points[0]!;
    if (atMs - first.at < 300) return null;
    return (time - first.time) / ((atMs - first.at) / 1000);
  }

  clear(): void {
    this.points = [];
  }
}
