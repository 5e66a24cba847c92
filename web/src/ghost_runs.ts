// Other recordings in the same view.
import type { Lab } from "./app";
import { freeColour } from "./compare";
import type { ChannelInfo, RecordingDetails } from "./protocol";
import type { Series } from "./source";
import { Track } from "./tracks";

interface Ghost {
  details: RecordingDetails;
  tracks: Track[];
  loading: Map<string, Promise<Track>>;
}

export class GhostRuns {
  private readonly ghosts = new Map<string, Ghost>();

  constructor(private readonly lab: Lab) {}

  async add(id: string): Promise<void> {
    const { store, connection, world } = this.lab;
    if (this.ghosts.has(id)) return;
    const path = `api/recordings/${encodeURIComponent(id)}`;
    const details = (await (await connection.get(`${path}/info`)).json()) as RecordingDetails;
    const glb = await (await connection.get(`${path}/scene.glb`)).arrayBuffer();
    const colour = freeColour(store.now.ghosts.map((one) => one.colour));
    await world.addGhost(id, glb, colour);
    // A ghost moves by the same rules as the scene of its own recording; all its pose channels are asked for.
    const channels = this.poseChannels(details);
    const track = await Track.load(connection, id, channels, details.channels, details.duration);
    this.ghosts.set(id, { details, tracks: [track], loading: new Map() });
    store.set({ ghosts: [...store.now.ghosts, { id, colour, scenario: details.scenario }] });
    this.lab.note("ghost", { id, colour });
  }

  remove(id: string): void {
    this.ghosts.delete(id);
    this.lab.world.removeGhost(id);
    const { store } = this.lab;
    store.set({ ghosts: store.now.ghosts.filter((one) => one.id !== id) });
  }

  clear(): void {
    for (const id of [...this.ghosts.keys()]) this.remove(id);
  }

  show(time: number): void {
    for (const [id, ghost] of this.ghosts) {
      this.lab.world.showGhost(id, ghost.tracks[0]!.at(Math.min(time, ghost.details.duration)), time);
    }
  }

  channel(id: string, name: string): ChannelInfo | null {
    return this.ghosts.get(id)?.details.channels.find((one) => one[0] === name) ?? null;
  }

  /** A channel of a ghost over time; fetched where it is not there yet. */
  async series(id: string, channel: string, component: number): Promise<Series | null> {
    const ghost = this.ghosts.get(id);
    if (!ghost || !this.channel(id, channel)) return null;
    const there = ghost.tracks.find((track) => track.has(channel));
    if (there) return there.series(channel, component);
    let loading = ghost.loading.get(channel);
    if (!loading) {
      const { channels, duration } = ghost.details;
      loading = Track.load(this.lab.connection, id, [channel], channels, duration);
      ghost.loading.set(channel, loading);
    }
    const track = await loading;
    if (!ghost.tracks.includes(track)) ghost.tracks.push(track);
    return track.series(channel, component);
  }

  private poseChannels(details: RecordingDetails): string[] {
    const wanted = new Set(this.lab.store.now.scene?.channels ?? []);
    const shared = details.channels.map((one) => one[0]).filter((name) => wanted.has(name));
    // Another scenario has other names: then whatever looks like a pose or a joint.
    const like = /(^|[./])(pose|position|positions|joints?|angles?|wheels?)$/;
    return shared.length ? shared : details.channels.map((one) => one[0]).filter((name) => like.test(name));
  }
}
