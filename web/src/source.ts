// Where numbers come from: a run that is going on, or a recording. The view, the plots and the tables need not know.
import type { ChannelInfo, IndicatorInfo, Lookup, SceneDescription } from "./protocol";
import type { LayerName } from "./world";

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

const LAYER_OF: Record<IndicatorInfo["kind"], LayerName[]> = {
  "wheel-contact": ["normal", "traction", "lateral", "contacts"],
  thrust: ["thrust"],
  "contact-force": ["contacts"],
  velocity: ["velocity"],
  icr: ["icr"],
  arm: ["solutions", "workspace"],
  score: [],
};

/** Channels that an indicator reads. */
export function indicatorChannels(one: IndicatorInfo): string[] {
  switch (one.kind) {
    case "wheel-contact":
      return [one.contact, one.normal, one.load, one.force];
    case "thrust":
    case "contact-force":
      return [one.force];
    case "velocity":
    case "icr":
      return [one.twist];
    case "arm":
      return [one.joints];
    case "score":
      return [one.channel];
  }
}

/** What the picture needs: poses, the switched-on layers, the score. */
export function sceneChannels(scene: SceneDescription, layers: ReadonlySet<LayerName>): string[] {
  const names = [...scene.channels];
  for (const one of scene.indicators) {
    // Arrows of velocity stand where wheels touch the ground too.
    if (one.kind === "wheel-contact" && layers.has("velocity")) names.push(one.contact, one.load);
    if (one.kind === "score" || LAYER_OF[one.kind].some((layer) => layers.has(layer)))
      names.push(...indicatorChannels(one));
  }
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
