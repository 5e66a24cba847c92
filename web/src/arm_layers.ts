// What an arm can reach, and its other postures for the same place of the tool: asked of the server when switched on.
import type { Lab } from "./app";
import type { ArmInfo, SceneDescription } from "./protocol";

/** Shortest time between two questions for postures [ms]. */
const ASK_EVERY_MS = 400;

export class ArmLayers {
  private askedAt = 0;
  private lastJoints = "";
  private shownFor: string | null = null;
  private shownIn: SceneDescription | null = null;

  constructor(private readonly lab: Lab) {
    lab.connection.on("solutions", ({ robot, joints }) => lab.world.setPostures(robot, joints));
    lab.store.on(["layers", "scene", "mode", "run", "recording"], () => void this.workspaces());
  }

  private get arms(): ArmInfo[] {
    return (this.lab.store.now.scene?.indicators ?? []).filter((one): one is ArmInfo => one.kind === "arm");
  }

  tick(now: number): void {
    const { store, source, connection } = this.lab;
    if (!source || !store.now.layers.has("solutions") || now - this.askedAt < ASK_EVERY_MS) return;
    for (const arm of this.arms) {
      const values = source.lookup(arm.joints);
      if (!values) continue;
      const joints = Array.from(values);
      const words = `${arm.robot} ${joints.map((one) => one.toFixed(3)).join(" ")}`;
      if (words === this.lastJoints) continue;
      this.lastJoints = words;
      this.askedAt = now;
      const { mode, run, recording } = store.now;
      const of = mode === "live" && run ? { run } : recording ? { recording } : null;
      if (of) connection.send({ t: "solutions", ...of, robot: arm.robot, joints });
    }
  }

  private async workspaces(): Promise<void> {
    const { store, connection, world } = this.lab;
    const { mode, run, recording, layers, scene } = store.now;
    this.lastJoints = "";
    // A scene that was loaded anew has lost its clouds.
    if (scene !== this.shownIn) this.shownFor = null;
    this.shownIn = scene;
    const of =
      mode === "live" && run ? `runs/${run}` : mode === "replay" && recording ? `recordings/${recording}` : null;
    if (!scene || of === null || !layers.has("workspace") || this.shownFor === of) return;
    this.shownFor = of;
    try {
      for (const arm of this.arms) {
        const answer = await connection.get(`api/${of}/workspace?robot=${encodeURIComponent(arm.robot)}`);
        world.setWorkspace(arm.robot, new Float32Array(await answer.arrayBuffer()));
      }
    } catch (error) {
      this.shownFor = null;
      this.lab.fail(error);
    }
  }
}
