/** The blur of propellers: at hundreds of turns a second pictures show blades at chance angles, an eye sees a disc. */

import { CircleGeometry, DoubleSide, Mesh, MeshBasicMaterial, Quaternion, Vector3, type Object3D } from "three";
import type { Lookup, Motion, SceneDescription } from "./protocol";
import { localBounds } from "./scene_file";

type Turning = Extract<Motion, { axis: unknown }>;

interface Disc {
  mesh: Mesh<CircleGeometry, MeshBasicMaterial>;
  motion: Turning;
  angle: number;
}

/** From this speed on blades begin to blur, and from the second on nothing else is seen [rad/s]. */
const [blurs, blurred] = [15, 80];

export class Propellers {
  private readonly discs: Disc[] = [];
  private time = NaN;

  constructor(description: SceneDescription, objects: ReadonlyMap<string, Object3D>) {
    const thrusts = new Set(description.indicators.flatMap((one) => (one.kind === "thrust" ? [one.node] : [])));
    for (const node of description.nodes) {
      const object = objects.get(node.name);
      const { motion } = node;
      if (!object || motion?.kind !== "turns") continue;
      if (!thrusts.has(node.name) && !thrusts.has(node.parent ?? "")) continue;
      this.discs.push({ mesh: disc(object, motion), motion, angle: NaN });
    }
  }

  /** `time` of the run [s]: the blur is that of the run's speed, also in slow motion. */
  update(lookup: Lookup, time: number): void {
    const dt = time - this.time;
    this.time = time;
    for (const one of this.discs) {
      const angle = (lookup(one.motion.channel)?.[one.motion.component] ?? NaN) * one.motion.scale;
      const speed = Math.abs((angle - one.angle) / dt);
      one.angle = angle;
      if (dt === 0) continue; // the same moment again: the speed is as it was
      const part = Number.isFinite(speed) ? Math.min(1, Math.max(0, (speed - blurs) / (blurred - blurs))) : 0;
      one.mesh.visible = part > 0;
      one.mesh.material.opacity = 0.22 * part;
    }
  }

  free(): void {
    for (const { mesh } of this.discs) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.removeFromParent();
    }
  }
}

function disc(object: Object3D, motion: Turning): Mesh<CircleGeometry, MeshBasicMaterial> {
  const axis = new Vector3(...motion.axis).normalize();
  const box = localBounds(object);
  const centre = box.getCenter(new Vector3());
  let radius = 0;
  for (const corner of [box.min, box.max]) {
    const across = corner.clone().addScaledVector(axis, -corner.dot(axis));
    radius = Math.max(radius, ...[across.x, across.y, across.z].map(Math.abs));
  }
  const material = new MeshBasicMaterial({
    color: "#aeb9c4",
    transparent: true,
    opacity: 0,
    side: DoubleSide,
    depthWrite: false,
  });
  const mesh = new Mesh(new CircleGeometry(radius, 48), material);
  mesh.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), axis));
  mesh.position.copy(axis).multiplyScalar(centre.dot(axis));
  mesh.visible = false;
  mesh.castShadow = false;
  object.add(mesh);
  return mesh;
}
