// Where numbers come from: a run that is going on, or a recording. The view, the plots and the tables need not know.
import type { ChannelInfo, Lookup, SceneDescription } from "./protocol";

export interface Series {
  t: ArrayLike<number>;
  y: ArrayLike<number>;
}

export interface Source {
  readonly channels: readonly ChannelInfo[];
  /** Simulation time of what is shown [s]. */
  readonly time: number;
  readonly lookup: Lookup;
  /** Raised when there is more to plot. */
  readonly version: number;
  /** Channels that are wanted from now on; `plotted` ones with their past. */
  need(names: readonly string[], plotted: readonly string[]): void;
  series(channel: string, component: number): Series | null;
  /** Moves on to what is to be shown at this moment of the page's clock [ms]; false when there is nothing yet. */
  sample(now: number): boolean;
  close(): void;
}

/** What the picture needs: poses, the switched-on layers, the score. */
export function sceneChannels(scene: SceneDescription, layers: ReadonlySet<string>): string[] {
  const names = [...scene.channels];
  for (const one of scene.layers) if (layers.has(one.name)) names.push(...one.channels);
  for (const one of scene.indicators) if (one.kind === "score") names.push(one.channel);
  return [...new Set(names)];
}

/** The channel that says where a robot is, for its path; null where it stands still. */
export function poseChannel(scene: SceneDescription, node: string): string | null {
  const motion = scene.nodes.find((one) => one.name === node)?.motion;
  return motion?.kind === "follows" ? motion.channel : null;
}

export function componentName(channel: ChannelInfo, component: number): string {
  return channel[3].length > 1 ? `${channel[0]} · ${channel[3][component] ?? component}` : channel[0];
}

/** The unit of one component: channels of mixed kind give them as "m, m, rad". */
export function componentUnit(channel: ChannelInfo, component: number): string {
  const parts = channel[1].split(/\s*,\s*/);
  const unit = parts.length > 1 ? (parts[component] ?? parts[parts.length - 1]!) : channel[1];
  return unit === "1" ? "" : unit;
}
