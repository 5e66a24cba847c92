/** Where nodes are, given the values of channels: the same rules as `node_poses` in src/botz/scene/world_scene.py. */

import type { Object3D } from "three";
import type { Lookup, NodeInfo } from "./protocol";

/** Pose of a node in its parent (position, quat_wxyz); without a value it rests at its place. */
export function localPose(node: NodeInfo, value: ArrayLike<number> | null, out: number[]): number[] {
  const motion = node.motion;
  if (!motion || value === null) return copied(node.place, out);
  switch (motion.kind) {
    case "follows":
      return compose(poseOf(value, moved), node.place, out);
    case "turns": {
      const half = 0.5 * (motion.scale * value[motion.component]! + motion.offset);
      const s = Math.sin(half);
      const [x, y, z] = motion.axis;
      return compose(node.place, filled(moved, 0, 0, 0, Math.cos(half), s * x, s * y, s * z), out);
    }
    case "slides": {
      const by = motion.scale * value[motion.component]! + motion.offset;
      const [x, y, z] = motion.axis;
      return compose(node.place, filled(moved, by * x, by * y, by * z, 1, 0, 0, 0), out);
    }
  }
}

const moved = [0, 0, 0, 1, 0, 0, 0];

/** Seven numbers of a pose channel; a pose on the plane is lifted to z = 0. */
function poseOf(value: ArrayLike<number>, out: number[]): number[] {
  if (value.length === 3) {
    const half = 0.5 * value[2]!;
    return filled(out, value[0]!, value[1]!, 0, Math.cos(half), 0, 0, Math.sin(half));
  }
  return copied(value, out);
}

/** The pose b in the frame a. */
export function compose(a: ArrayLike<number>, b: ArrayLike<number>, out: number[]): number[] {
  const [x, y, z] = [b[0]!, b[1]!, b[2]!];
  const [w1, x1, y1, z1] = [a[3]!, a[4]!, a[5]!, a[6]!];
  const [w2, x2, y2, z2] = [b[3]!, b[4]!, b[5]!, b[6]!];
  // v + 2 w (q × v) + 2 q × (q × v)
  const [tx, ty, tz] = [2 * (y1 * z - z1 * y), 2 * (z1 * x - x1 * z), 2 * (x1 * y - y1 * x)];
  return filled(
    out,
    a[0]! + x + w1 * tx + y1 * tz - z1 * ty,
    a[1]! + y + w1 * ty + z1 * tx - x1 * tz,
    a[2]! + z + w1 * tz + x1 * ty - y1 * tx,
    w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
    w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
    w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
    w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
  );
}

function filled(out: number[], ...values: number[]): number[] {
  for (let i = 0; i < 7; i++) out[i] = values[i]!;
  return out;
}

function copied(from: ArrayLike<number>, out: number[]): number[] {
  for (let i = 0; i < 7; i++) out[i] = from[i]!;
  return out;
}

/** Objects of a loaded scene that move or hide by channels. */
export class Rig {
  private readonly moving: { node: NodeInfo; object: Object3D }[] = [];
  private readonly pose = [0, 0, 0, 1, 0, 0, 0];

  /** `objects`: by the names of their nodes; a node without an object is left out. */
  constructor(
    readonly objects: ReadonlyMap<string, Object3D>,
    nodes: NodeInfo[],
  ) {
    for (const node of nodes) {
      const object = objects.get(node.name);
      if (object) this.moving.push({ node, object });
    }
  }

  apply(lookup: Lookup): void {
    for (const { node, object } of this.moving) {
      if (node.shown_by !== undefined) {
        const shown = lookup(node.shown_by);
        object.visible = shown === null || !(shown[0]! < 0.5);
      }
      const value = node.motion ? lookup(node.motion.channel) : null;
      const pose = localPose(node, value, this.pose);
      // A state that is not finite (a run that diverged) leaves the picture as it was.
      if (!pose.every(Number.isFinite)) continue;
      object.position.set(pose[0]!, pose[1]!, pose[2]!);
      object.quaternion.set(pose[4]!, pose[5]!, pose[6]!, pose[3]!);
    }
  }
}
