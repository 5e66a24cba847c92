// The way that each robot has taken: gathered while a run goes on, whole for a recording.
import type { Lab } from "./app";
import type { ChannelInfo, SceneDescription } from "./protocol";
import { poseChannel } from "./source";

const MOST_TRAILS = 24;
const MOST_POINTS = 3000;
const COLOURS: readonly string[] = ["#ffb454", "#6cc4ff", "#9be29a", "#ff9d95", "#d3a6f2", "#ffe07a"];

export interface Way {
  id: string;
  channel: string;
  colour: string;
}

/** Channels to draw ways of: robots that move as a whole, and tools of arms. */
export function waysOf(scene: SceneDescription, channels: readonly ChannelInfo[]): Way[] {
  const known = new Set(channels.map((one) => one[0]));
  const ways: Way[] = [];
  for (const actor of scene.actors) {
    const channel = [poseChannel(scene, actor.node), `${actor.name}/tool/pose`].find(
      (one) => one !== null && known.has(one),
    );
    if (channel) ways.push({ id: actor.name, channel, colour: COLOURS[ways.length % COLOURS.length]! });
    if (ways.length === MOST_TRAILS) break;
  }
  return ways;
}

/** Points of a way, thinned as it grows long: every second one goes, and from then on fewer come. */
export class Gathered {
  private points: number[] = [];
  private apart = 0.01;

  add(x: number, y: number, z: number): boolean {
    const n = this.points.length;
    if (![x, y, z].every(Number.isFinite)) return false;
    if (n > 0 && Math.hypot(x - this.points[n - 3]!, y - this.points[n - 2]!, z - this.points[n - 1]!) < this.apart)
      return false;
    this.points.push(x, y, z);
    if (this.points.length > 3 * MOST_POINTS) {
      this.points = this.points.filter((_, index) => Math.floor(index / 3) % 2 === 0);
      this.apart *= 2;
    }
    return true;
  }

  get array(): Float32Array {
    return Float32Array.from(this.points);
  }
}

export class Trails {
  private ways: Way[] = [];
  private gathered = new Map<string, Gathered>();
  private readonly grown = new Set<string>();
  private shownVersion = -1;
  private time = -1;

  constructor(private readonly lab: Lab) {
    const { store } = lab;
    lab.onArrival(() => this.gather());
    store.on(["scene", "channels", "layers", "mode", "recording", "run"], () => this.choose());
  }

  private get kinds(): ("line" | "arrows")[] {
    const { layers } = this.lab.store.now;
    return [
      ...(layers.has("trail") ? (["line"] as const) : []),
      ...(layers.has("trail-arrows") ? (["arrows"] as const) : []),
    ];
  }

  private choose(): void {
    const { scene, channels } = this.lab.store.now;
    for (const way of this.ways) this.lab.world.removeTrail(way.id);
    this.ways = scene ? waysOf(scene, channels) : [];
    this.gathered = new Map([...this.gathered].filter(([id]) => this.ways.some((way) => way.id === id)));
    this.shownVersion = -1;
    this.lab.wish("trails", this.kinds.length ? this.ways.map((way) => way.channel) : []);
    for (const way of this.ways) this.drawGathered(way);
  }

  /** Forgets what was gathered: the run begins anew. */
  clear(): void {
    this.gathered.clear();
    for (const way of this.ways) this.lab.world.removeTrail(way.id);
  }

  tick(): void {
    const { replay, live, world } = this.lab;
    if (!this.kinds.length) return;
    if (replay && replay.version !== this.shownVersion) {
      this.shownVersion = replay.version;
      for (const way of this.ways) {
        const points = replay.path(way.channel);
        for (const kind of this.kinds) world.setTrail(points, kind, way.id, way.colour);
      }
    }
    if (!live) return;
    for (const way of this.ways) if (this.grown.delete(way.id)) this.drawGathered(way);
  }

  /** Takes every frame, also those that came while the page was busy, so that no corner is cut. */
  private gather(): void {
    const { live } = this.lab;
    if (!live || !this.kinds.length) return;
    const now = live.lastFrame?.time ?? 0;
    if (now < this.time) this.clear();
    this.time = now;
    for (const way of this.ways) {
      const pose = live.newest(way.channel);
      if (!pose) continue;
      let gathered = this.gathered.get(way.id);
      if (!gathered) this.gathered.set(way.id, (gathered = new Gathered()));
      if (gathered.add(pose[0]!, pose[1]!, pose.length >= 7 ? pose[2]! : 0)) this.grown.add(way.id);
    }
  }

  private drawGathered(way: Way): void {
    const gathered = this.lab.live ? this.gathered.get(way.id) : undefined;
    if (!gathered) return;
    for (const kind of this.kinds) this.lab.world.setTrail(gathered.array, kind, way.id, way.colour);
  }
}
