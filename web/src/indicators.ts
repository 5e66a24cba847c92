/** What is going on, drawn over the world: forces, speeds, contacts, frames and the centre of rotation. */

import { Group, Matrix4, Mesh, MeshBasicMaterial, Raycaster, RingGeometry, Vector3, type Object3D } from "three";
import { Arrows, Axes, Balls, Rods } from "./arrows";
import type {
  ActorInfo,
  Lookup,
  PointForceInfo,
  RotationCentreInfo,
  SceneDescription,
  VelocityInfo,
  WheelContactInfo,
} from "./protocol";
import { ArrowScale } from "./scales";

export const layerColours = {
  normal: "#4cc38a",
  traction: "#f5a524",
  lateral: "#b07cf7",
  velocity: "#3da9fc",
  thrust: "#ff6b6b",
  contacts: "#ffd166",
  icr: "#ff4f9a",
} as const;

type ArrowLayer = "normal" | "traction" | "lateral" | "velocity" | "thrust" | "contacts";

export interface LegendEntry<Layer = string> {
  layer: Layer;
  colour: string;
  /** What one metre of arrow stands for. */
  perMetre: number;
  unit: string;
}

/** Frames and lines to wheels beyond this number only hide each other. */
const mostFrames = 160;

export class Indicators extends Group {
  private readonly on = new Set<string>();
  private readonly arrows: Record<ArrowLayer, Arrows>;
  private readonly points: Balls;
  private readonly axes = new Axes(mostFrames);
  private readonly centres: Balls;
  private readonly spokes: Rods;
  private readonly ring: Mesh<RingGeometry, MeshBasicMaterial>[] = [];
  private readonly forces: ArrowScale;
  private readonly thrusts: ArrowScale;
  private readonly speeds: ArrowScale;
  private readonly wheels: WheelContactInfo[] = [];
  private readonly pointForces: PointForceInfo[] = [];
  private readonly velocities: VelocityInfo[] = [];
  private readonly rotations: RotationCentreInfo[] = [];
  private readonly sizes = new Map<string, number>();
  private readonly roofs = new Map<string, number>();
  private readonly spokeEnds = new Map<string, Object3D[]>();
  private readonly framed: { object: Object3D; length: number }[] = [];
  private readonly thick: number;

  constructor(
    description: SceneDescription,
    private readonly objects: ReadonlyMap<string, Object3D>,
  ) {
    super();
    for (const one of description.indicators) {
      if (one.kind === "wheel-contact") this.wheels.push(one);
      else if (one.kind === "thrust" || one.kind === "contact-force") this.pointForces.push(one);
      else if (one.kind === "velocity") this.velocities.push(one);
      else if (one.kind === "icr") this.rotations.push(one);
    }
    for (const actor of description.actors) this.sizes.set(actor.name, actor.size);
    const size = typicalSize(description);
    this.thick = 0.035 * markSize(description);
    // Several wheels share a weight: the longest of the arrows is about as long as the robot.
    this.forces = new ArrowScale(1.1 * size, 0.01);
    this.thrusts = new ArrowScale(1.3 * size, 0.01);
    this.speeds = new ArrowScale(1.8 * size, 0.05);
    const some = Math.max(16, 2 * this.wheels.length, 2 * this.pointForces.length, 2 * this.velocities.length);
    this.arrows = {
      normal: new Arrows(layerColours.normal, some),
      traction: new Arrows(layerColours.traction, some),
      lateral: new Arrows(layerColours.lateral, some),
      velocity: new Arrows(layerColours.velocity, some),
      thrust: new Arrows(layerColours.thrust, some),
      contacts: new Arrows(layerColours.contacts, some),
    };
    this.points = new Balls(layerColours.contacts, some);
    this.centres = new Balls(layerColours.icr, Math.max(1, this.rotations.length));
    this.spokes = new Rods(layerColours.icr, 16 * Math.max(1, this.rotations.length));
    for (const _ of this.rotations) {
      const material = new MeshBasicMaterial({ color: layerColours.icr, transparent: true, opacity: 0.5, fog: false });
      this.ring.push(new Mesh(new RingGeometry(0.8, 1, 40), material));
    }
    this.findFrames(description);
    for (const one of this.velocities) this.findRoof(one);
    for (const one of this.rotations) this.spokeEnds.set(one.node, this.wheelsOf(one.node, description));
    this.add(...Object.values(this.arrows), this.points, this.axes, this.centres, this.spokes, ...this.ring);
  }

  setLayer(name: string, on: boolean): void {
    if (on) this.on.add(name);
    else this.on.delete(name);
  }

  /** Layers that have something to show here. */
  useful(): Set<string> {
    const found = new Set<string>();
    if (this.wheels.length) for (const layer of ["normal", "traction", "lateral", "contacts"]) found.add(layer);
    for (const one of this.pointForces) found.add(one.kind === "thrust" ? "thrust" : "contacts");
    if (this.velocities.length) found.add("velocity");
    if (this.rotations.length) found.add("icr");
    if (this.framed.length) found.add("frames");
    return found;
  }

  legend(): LegendEntry[] {
    const found: LegendEntry[] = [];
    const entry = (layer: ArrowLayer, scale: ArrowScale, unit: string) => {
      if (this.on.has(layer) && this.arrows[layer].shown > 0)
        found.push({ layer, colour: layerColours[layer], perMetre: scale.perMetre, unit });
    };
    entry("normal", this.forces, "N");
    entry("traction", this.forces, "N");
    entry("lateral", this.forces, "N");
    entry("contacts", this.forces, "N");
    entry("thrust", this.thrusts, "N");
    entry("velocity", this.speeds, "m/s");
    return found;
  }

  /** After the nodes have been placed. `now`: seconds of the page's clock. */
  update(lookup: Lookup, now: number): void {
    for (const arrows of Object.values(this.arrows)) arrows.begin();
    this.points.begin();
    this.wheelForces(lookup, now);
    this.otherForces(lookup, now);
    this.velocityArrows(lookup, now);
    this.rotationCentres(lookup);
    for (const arrows of Object.values(this.arrows)) arrows.end();
    this.points.end();
    this.frames();
  }

  free(): void {
    for (const arrows of Object.values(this.arrows)) arrows.free();
    for (const one of [this.points, this.centres, this.spokes, this.axes]) one.free();
    for (const ring of this.ring) {
      ring.geometry.dispose();
      ring.material.dispose();
    }
    this.removeFromParent();
  }

  private wheelForces(lookup: Lookup, now: number): void {
    const layers = ["normal", "traction", "lateral", "contacts"].filter((layer) => this.on.has(layer));
    if (layers.length === 0) return;
    let greatest = 0;
    for (const one of this.wheels) greatest = Math.max(greatest, Math.abs(lookup(one.load)?.[0] ?? 0));
    if (greatest > 0) this.forces.see(greatest, now);
    for (const one of this.wheels) {
      const body = this.objects.get(one.node);
      const at = lookup(one.contact);
      const load = lookup(one.load)?.[0] ?? 0;
      if (!body || !at || !(load > 0) || !shownInTree(body)) continue; // in the air
      point.set(at[0]!, at[1]!, at[2] ?? 0);
      const n = lookup(one.normal);
      if (n && n.length >= 3) normal.set(n[0]!, n[1]!, n[2]!).normalize();
      else normal.set(0, 0, 1);
      const thick = this.thickness(one.robot);
      if (this.on.has("contacts")) this.points.ball(point, 2.2 * thick);
      if (this.on.has("normal")) this.force("normal", normal, load, thick);
      const force = lookup(one.force);
      if (!force) continue;
      ahead.setFromMatrixColumn(body.matrixWorld, 0);
      ahead.addScaledVector(normal, -ahead.dot(normal)).normalize();
      if (this.on.has("traction")) this.force("traction", ahead, force[0]!, thick);
      left.crossVectors(normal, ahead);
      if (this.on.has("lateral")) this.force("lateral", left, force[1] ?? 0, thick);
    }
  }

  private force(layer: ArrowLayer, direction: Vector3, newtons: number, thick: number): void {
    this.arrows[layer].arrow(point, vector.copy(direction).multiplyScalar(this.forces.metres(newtons)), thick);
  }

  private otherForces(lookup: Lookup, now: number): void {
    for (const kind of ["thrust", "contact-force"] as const) {
      const layer = kind === "thrust" ? "thrust" : "contacts";
      if (!this.on.has(layer)) continue;
      const scale = kind === "thrust" ? this.thrusts : this.forces;
      let greatest = 0;
      for (const one of this.pointForces) if (one.kind === kind) greatest = Math.max(greatest, norm(lookup(one.force)));
      if (greatest > 0) scale.see(greatest, now);
      for (const one of this.pointForces) {
        const [body, force] = [this.objects.get(one.node), lookup(one.force)];
        if (one.kind !== kind || !body || !force || force.length < 3 || !shownInTree(body)) continue;
        point.setFromMatrixPosition(body.matrixWorld);
        vector.set(force[0]!, force[1]!, force[2]!).multiplyScalar(scale.metres(1));
        this.arrows[layer].arrow(point, vector, this.thickness(one.robot));
      }
    }
  }

  private velocityArrows(lookup: Lookup, now: number): void {
    if (!this.on.has("velocity")) return;
    const speed = (one: VelocityInfo) => {
      const twist = lookup(one.twist);
      if (!twist) return null;
      return vector.set(twist[0]!, twist[1] ?? 0, upward(one, twist));
    };
    let greatest = 0;
    for (const one of this.velocities) greatest = Math.max(greatest, speed(one)?.length() ?? 0);
    const touching = this.wheels.flatMap((wheel) => this.contactVelocity(wheel, lookup));
    for (const { velocity } of touching) greatest = Math.max(greatest, velocity.length());
    if (greatest > 0) this.speeds.see(greatest, now);
    for (const { at, velocity, robot } of touching)
      this.arrows.velocity.arrow(at, velocity.multiplyScalar(this.speeds.metres(1)), this.thickness(robot));
    for (const one of this.velocities) {
      const body = this.objects.get(one.node);
      if (!body || !shownInTree(body) || !speed(one)) continue;
      if (one.in_body) turned(vector, body);
      // On top of the body, which would hide it.
      const thick = 1.2 * this.thickness(one.robot);
      point.set(0, 0, (this.roofs.get(one.node) ?? 0) + 0.5 * thick).applyMatrix4(body.matrixWorld);
      vector.multiplyScalar(this.speeds.metres(1));
      this.arrows.velocity.arrow(point, vector, thick);
    }
  }

  /** How fast the body goes over the ground where a wheel touches it; nothing for a wheel in the air. */
  private contactVelocity(
    wheel: WheelContactInfo,
    lookup: Lookup,
  ): { at: Vector3; velocity: Vector3; robot: string }[] {
    const whole = this.velocities.find((one) => one.robot === wheel.robot);
    const body = whole && this.objects.get(whole.node);
    const [twist, at] = [whole && lookup(whole.twist), lookup(wheel.contact)];
    const load = lookup(wheel.load)?.[0] ?? 0;
    if (!body || !twist || !at || !(load > 0) || !shownInTree(body)) return [];
    const place = new Vector3(at[0], at[1], at[2] ?? 0);
    return [{ at: place, velocity: velocityAt(twist, body.matrixWorld, place, whole.in_body), robot: wheel.robot }];
  }

  private rotationCentres(lookup: Lookup): void {
    this.centres.begin();
    this.spokes.begin();
    this.rotations.forEach((one, k) => {
      const ring = this.ring[k]!;
      ring.visible = false;
      const body = this.objects.get(one.node);
      const twist = lookup(one.twist);
      const size = this.sizes.get(one.robot) ?? 0.5;
      if (!this.on.has("icr") || !body || !twist || !shownInTree(body)) return;
      // In the body's axes the point at rest: v + ω × r = 0.
      const rate = twist[twist.length >= 6 ? 5 : 2]!;
      point.set(-twist[1]! / rate, twist[0]! / rate, 0);
      // Farther than this it says only: straight ahead.
      if (!(point.length() < 60 * size)) return;
      point.applyMatrix4(body.matrixWorld);
      const thick = this.thickness(one.robot);
      this.centres.ball(point, 4 * thick);
      ring.visible = true;
      ring.position.copy(point);
      ring.scale.setScalar(5 * thick);
      for (const wheel of this.spokeEnds.get(one.node) ?? []) {
        vector.setFromMatrixPosition(wheel.matrixWorld);
        this.spokes.rod(vector, point, 0.35 * thick);
      }
    });
    this.centres.end();
    this.spokes.end();
  }

  private frames(): void {
    this.axes.count = 0;
    this.axes.visible = false;
    if (!this.on.has("frames")) return;
    for (const { object, length } of this.framed) if (shownInTree(object)) this.axes.frame(object.matrixWorld, length);
    this.axes.visible = this.axes.count > 0;
  }

  private thickness(robot: string): number {
    const size = this.sizes.get(robot);
    return size === undefined ? this.thick : Math.min(Math.max(this.thick, 0.035 * size), 0.07 * size);
  }

  /** How high a body is above its own origin, where an arrow can start. */
  private findRoof(one: VelocityInfo): void {
    const body = this.objects.get(one.node);
    if (body) this.roofs.set(one.node, roofOf(body, 4 * (this.sizes.get(one.robot) ?? 1)));
  }

  private findFrames(description: SceneDescription): void {
    const actors = new Map<string, ActorInfo>(description.actors.map((actor) => [actor.node, actor]));
    for (const actor of actors.values()) {
      const object = this.objects.get(actor.node);
      if (object) this.framed.push({ object, length: frameLength(actor, true) });
    }
    for (const node of description.nodes) {
      const object = this.objects.get(node.name);
      if (!object || actors.has(node.name)) continue;
      const robot = description.actors.find((actor) => node.name.startsWith(`${actor.name}/`));
      this.framed.push({ object, length: frameLength(robot ?? typicalActor(description), false) });
    }
  }

  /** Wheels of a robot: what turns below its body, one for each place. */
  private wheelsOf(body: string, description: SceneDescription): Object3D[] {
    const top = this.objects.get(body);
    if (!top) return [];
    top.updateWorldMatrix(true, true);
    const found: Object3D[] = [];
    for (const node of description.nodes) {
      const object = this.objects.get(node.name);
      if (!object || object === top || node.motion?.kind !== "turns" || !isBelow(object, top)) continue;
      point.setFromMatrixPosition(object.matrixWorld);
      const near = 0.25 * (this.sizes.get(body) ?? 0.4);
      const known = found.some((other) => point.distanceTo(vector.setFromMatrixPosition(other.matrixWorld)) < near);
      if (!known && found.length < 12) found.push(object);
    }
    return found;
  }
}

const point = new Vector3();
const normal = new Vector3();
const ahead = new Vector3();
const left = new Vector3();
const vector = new Vector3();

/** The robot of middle size, or one that would fit the scene. */
function typicalActor(description: SceneDescription): Pick<ActorInfo, "size" | "hands"> {
  const actors = [...description.actors].sort((a, b) => a.size - b.size);
  return actors[Math.floor(actors.length / 2)] ?? { size: 0.15 * description.radius, hands: "none" };
}

export function typicalSize(description: SceneDescription): number {
  return typicalActor(description).size;
}

/** How long the axes of a frame are: those of a robot's body stand out of it, its parts' are shorter. An arm's size is its
 * reach, many times as long as its links are thick, and its frames stand close together. */
export function frameLength(actor: Pick<ActorInfo, "size" | "hands">, whole: boolean): number {
  const share = actor.hands === "arm" ? [0.16, 0.11] : [0.9, 0.35];
  return share[whole ? 0 : 1]! * actor.size;
}

/** Height of what is drawn of a body above its origin, along its own z; 0 where there is nothing. `far`: beyond all of
 * it. */
export function roofOf(body: Object3D, far: number): number {
  body.updateWorldMatrix(true, true);
  const from = new Vector3(0, 0, far).applyMatrix4(body.matrixWorld);
  const down = new Vector3(0, 0, -1).transformDirection(body.matrixWorld);
  const hit = new Raycaster(from, down, 0, far).intersectObject(body, true)[0];
  return hit ? far - hit.distance : 0;
}

/** How large marks are to be: as for a robot of this size; small robots in a wide world need larger ones. */
export function markSize(description: SceneDescription): number {
  return Math.max(typicalSize(description), 0.16 * description.radius);
}

export function shownInTree(object: Object3D): boolean {
  for (let one: Object3D | null = object; one; one = one.parent) if (!one.visible) return false;
  return true;
}

function isBelow(object: Object3D, top: Object3D): boolean {
  for (let one = object.parent; one; one = one.parent) if (one === top) return true;
  return false;
}

function norm(values: ArrayLike<number> | null): number {
  return values && values.length >= 3 ? Math.hypot(values[0]!, values[1]!, values[2]!) : 0;
}

/** Three numbers in a body's axes are a planar twist (vx, vy, yaw rate): only others have a vz. */
function upward(one: VelocityInfo, twist: ArrayLike<number>): number {
  return twist.length >= 6 || (twist.length === 3 && !one.in_body) ? twist[2]! : 0;
}

/** Velocity of a body's point that is at `at` in the world, v + ω × r, in the world's axes; r from the body's origin. A
 * planar twist (vx, vy, yaw rate) will do. `inBody`: whether the twist is in the body's axes. */
export function velocityAt(twist: ArrayLike<number>, body: Matrix4, at: Vector3, inBody = true): Vector3 {
  const planar = twist.length < 6;
  const v = new Vector3(twist[0], twist[1], planar ? 0 : twist[2]);
  const rate = planar ? new Vector3(0, 0, twist[2]) : new Vector3(twist[3], twist[4], twist[5]);
  if (inBody) {
    const axes = new Matrix4().extractRotation(body);
    v.applyMatrix4(axes);
    rate.applyMatrix4(axes);
  }
  const r = new Vector3().setFromMatrixPosition(body).negate().add(at);
  return v.add(rate.cross(r));
}

function turned(v: Vector3, body: Object3D): Vector3 {
  const length = v.length();
  return v.transformDirection(body.matrixWorld).multiplyScalar(length);
}
