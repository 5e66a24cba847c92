// Numbers of a recording, fetched as they are needed and then at hand for every moment.
import type { LabConnection } from "./connection";
import type { ChannelInfo, Lookup, RecordingDetails } from "./protocol";
import type { Series, Source } from "./source";
import { Playback } from "./timeline";
import { Track } from "./tracks";

export class ReplaySource implements Source {
  readonly channels: readonly ChannelInfo[];
  readonly playback: Playback;
  version = 0;
  private readonly tracks = new Map<string, Track>();
  private readonly wanted = new Set<string>();
  private waiting: string[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly stopped = new AbortController();
  private lookups = new Map<Track, Lookup>();
  private before: number | null = null;

  constructor(
    private readonly connection: LabConnection,
    readonly details: RecordingDetails,
    private readonly failed: (error: unknown) => void,
  ) {
    this.channels = details.channels;
    this.playback = new Playback(details.duration, undefined, details.started_at);
  }

  get time(): number {
    return this.playback.time;
  }

  need(names: readonly string[], plotted: readonly string[]): void {
    const known = new Set(this.channels.map((channel) => channel[0]));
    const fresh = [...names, ...plotted].filter((name) => known.has(name) && !this.wanted.has(name));
    if (fresh.length === 0) return;
    for (const name of fresh) this.wanted.add(name);
    this.waiting.push(...new Set(fresh));
    this.timer ??= setTimeout(() => void this.fetch(), 30);
  }

  private async fetch(): Promise<void> {
    this.timer = null;
    const names = this.waiting;
    this.waiting = [];
    try {
      const { id, duration } = this.details;
      const track = await Track.load(this.connection, id, names, [...this.channels], duration, {
        signal: this.stopped.signal,
        from: this.playback.first,
      });
      for (const name of names) this.tracks.set(name, track);
      this.version += 1;
    } catch (error) {
      for (const name of names) this.wanted.delete(name);
      if (!this.stopped.signal.aborted) this.failed(error);
    }
  }

  sample(now: number): boolean {
    if (this.before !== null) this.playback.advance(Math.min(0.5, (now - this.before) / 1000));
    this.before = now;
    this.lookups = new Map();
    return this.tracks.size > 0;
  }

  readonly lookup = (name: string): ArrayLike<number> | null => {
    const track = this.tracks.get(name);
    if (!track) return null;
    let lookup = this.lookups.get(track);
    if (!lookup) this.lookups.set(track, (lookup = track.at(this.playback.time)));
    return lookup(name);
  };

  series(channel: string, component: number): Series | null {
    return this.tracks.get(channel)?.series(channel, component) ?? null;
  }

  /** Points of a robot's way. */
  path(channel: string): Float32Array {
    return this.tracks.get(channel)?.path(channel) ?? new Float32Array(0);
  }

  has(channel: string): boolean {
    return this.tracks.has(channel);
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.stopped.abort();
  }
}
