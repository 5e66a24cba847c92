/** Eyes on the world: free orbit, chase, on board, above, fixed, follow, and the cameras of the scene itself. */

import { Box3, MOUSE, PerspectiveCamera, Quaternion, TOUCH, Vector3, type Object3D } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { ActorInfo, CameraInfo, SceneDescription, Vector } from "./protocol";
import { localBounds } from "./scene_file";

export const commonCameras = ["orbit", "chase", "board", "above", "fixed", "follow"] as const;

/** Angle of view from bottom to top [rad]. */
const usualView = 0.75;
/** How fast a chasing camera turns after its target and keeps up with it [1/s]. */
const turnRate = 3.5;
/** Of the half view, what bars and panels leave free: to either side, upwards and downwards. */
const free = { side: 0.86, up: 0.82, down: 0.74 };

/** What is seen now. */
export interface Sight {
  eye: Vector;
  target: Vector;
  verticalView: number;
  /** Of a free eye that goes along with a robot: where it is and looks from the robot's place, in the world's axes. */
  along?: { robot: string; eye: Vector; target: Vector };
}

export class Cameras {
  readonly camera = new PerspectiveCamera((usualView * 180) / Math.PI, 1, 0.02, 500);
  readonly controls: OrbitControls;
  name = "orbit";
  target: string | null = null;
  private description: SceneDescription | null = null;
  private objects: ReadonlyMap<string, Object3D> = new Map();
  private readonly bounds = new Map<string, Box3>();
  private readonly anchor = new Vector3();
  private yaw = 0;
  /** Whether a free eye goes with its target: only when one was asked for. */
  private goesAlong = false;
  private lookYaw = 0;
  private lookPitch = 0;
  private zoom = 1;
  private readonly fixedTurn = new Quaternion();
  private readonly pointers = new Map<number, { x: number; y: number }>();

  constructor(private readonly element: HTMLElement) {
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(4, -4, 3);
    this.controls = new OrbitControls(this.camera, element);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.zoomToCursor = true;
    this.controls.mouseButtons = { LEFT: MOUSE.ROTATE, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.controls.touches = { ONE: TOUCH.ROTATE, TWO: TOUCH.DOLLY_PAN };
    element.addEventListener("pointerdown", this.pressed);
    element.addEventListener("pointermove", this.moved);
    element.addEventListener("pointerup", this.released);
    element.addEventListener("pointercancel", this.released);
    element.addEventListener("wheel", this.wheeled, { passive: true });
  }

  /** A new scene: looks at all of it. */
  enter(description: SceneDescription, objects: ReadonlyMap<string, Object3D>, extent: number): void {
    this.description = description;
    this.objects = objects;
    this.bounds.clear();
    this.target = description.actors[0]?.name ?? null;
    const radius = Math.max(description.radius, 0.05);
    this.camera.near = Math.max(0.002, 0.004 * radius);
    this.camera.far = Math.max(60 * radius, 12 * extent);
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = 0.05 * radius;
    this.controls.maxDistance = Math.max(8 * extent, 12 * radius);
    this.overview();
    // A vehicle is seen from behind, as one drives it: beside it there may be walls.
    const behind = this.alone && description.actors[0]?.hands === "tank";
    this.choose(behind ? "chase" : "orbit");
    if (!this.alone || behind) return;
    // Its nodes are not placed yet: it begins where the scene's centre is.
    this.overview();
    this.anchor.fromArray(description.centre);
  }

  /** Whether there is a single robot that moves about: then an orbiting eye goes along with it. Arms stay where they
   * are, and reach beyond their scene. */
  private get alone(): boolean {
    const [actor, another] = this.description?.actors ?? [];
    return actor !== undefined && another === undefined && actor.hands !== "arm";
  }

  /** Distance from a place to the farthest side of any robot, as far as shadows are concerned [m]. */
  farthest(from: Vector3): number {
    let found = 0;
    for (const actor of this.description?.actors ?? []) {
      const object = this.objects.get(actor.node);
      if (object) found = Math.max(found, centreOf(object, place).distanceTo(from) + 2 * actor.size);
    }
    return found;
  }

  names(): string[] {
    const actors = this.description?.actors.length ?? 0;
    const common = commonCameras.filter((name) => actors > 0 || name === "orbit" || name === "fixed" || name === "above");
    return [...common, ...(this.description?.cameras.map((camera) => camera.name) ?? [])];
  }

  /** Unknown names are left out of account: a camera of another scene. */
  choose(name: string, target?: string): void {
    if (target !== undefined && this.actor(target)) this.target = target;
    if (!this.names().includes(name)) return;
    const before = this.name;
    this.name = name;
    this.lookYaw = this.lookPitch = 0;
    this.zoom = 1;
    const onto = target ?? (name === "orbit" && this.alone ? (this.target ?? undefined) : undefined);
    this.goesAlong = name === "chase" || (onto !== undefined && this.target === onto);
    this.controls.enabled = name === "orbit" || name === "chase" || name === "above";
    this.controls.enableRotate = name !== "above";
    this.controls.screenSpacePanning = name !== "orbit";
    this.controls.enablePan = name !== "chase";
    this.fieldOfView(usualView);
    const actor = this.actor(this.target);
    if (name === "orbit") this.enterOrbit(before, onto);
    else if (name === "chase" && actor) this.enterChase(actor);
    else if (name === "above") this.enterAbove(actor);
    else if (name === "fixed") {
      if (!fromOwnPlace.has(before)) this.overview();
      this.camera.lookAt(this.controls.target);
      this.fixedTurn.copy(this.camera.quaternion);
    } else if (name === "follow" && !fromOwnPlace.has(before)) this.overview();
    this.note();
  }

  /** Once a frame, after the nodes have been placed; `seconds` since the last. */
  update(seconds: number): void {
    const actor = this.actor(this.target);
    const object = actor ? this.objects.get(actor.node) : undefined;
    switch (this.name) {
      case "orbit":
      case "above":
      case "chase":
        if (object && this.goesAlong) this.carry(object, seconds);
        this.controls.update();
        return;
      case "fixed":
        this.camera.quaternion.copy(this.fixedTurn);
        break;
      case "follow":
        if (object) this.controls.target.setFromMatrixPosition(object.matrixWorld);
        this.camera.lookAt(this.controls.target);
        break;
      case "board":
        if (object && actor) this.sitOn(actor, object);
        break;
      default:
        this.takeOwn();
    }
    this.lookAround();
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  /** What the light and the fog are fitted to. */
  focus(out: Vector3): Vector3 {
    if (this.controls.enabled || this.name === "follow") return out.copy(this.controls.target);
    const actor = this.actor(this.target);
    const object = actor && this.objects.get(actor.node);
    if (this.name === "board" && object) return out.setFromMatrixPosition(object.matrixWorld);
    const centre = this.description?.centre ?? [0, 0, 0];
    return out.fromArray(centre);
  }

  /** Puts a free eye somewhere; one that goes along with a robot does so from there. */
  stand(eye: Vector, target: Vector): void {
    this.controls.target.fromArray(target);
    this.camera.position.fromArray(eye);
    this.controls.update();
  }

  view(): Sight {
    const { camera } = this;
    const ahead = camera.getWorldDirection(new Vector3());
    const focus = this.focus(new Vector3());
    const distance = Math.max(0.1, focus.sub(camera.position).dot(ahead));
    const target = camera.position.clone().addScaledVector(ahead, distance);
    const seen: Sight = {
      eye: camera.position.toArray(),
      target: target.toArray(),
      verticalView: (camera.fov * Math.PI) / 180,
    };
    const actor = this.actor(this.target);
    if (this.name === "orbit" && this.goesAlong && actor && this.objects.has(actor.node)) {
      const from = (point: Vector3): Vector => point.clone().sub(this.anchor).toArray();
      seen.along = { robot: actor.name, eye: from(camera.position), target: from(target) };
    }
    return seen;
  }

  dispose(): void {
    this.controls.dispose();
    for (const [type, listener] of [
      ["pointerdown", this.pressed],
      ["pointermove", this.moved],
      ["pointerup", this.released],
      ["pointercancel", this.released],
      ["wheel", this.wheeled],
    ] as const)
      this.element.removeEventListener(type, listener as EventListener);
  }

  private actor(name: string | null): ActorInfo | undefined {
    return this.description?.actors.find((actor) => actor.name === name);
  }

  private fieldOfView(angle: number): void {
    this.camera.fov = (angle * 180) / Math.PI;
    this.camera.updateProjectionMatrix();
  }

  /** All of the scene from the front right, a little above. */
  private overview(): void {
    const { centre, radius } = this.description ?? { centre: [0, 0, 0] as Vector, radius: 3 };
    this.controls.target.fromArray(centre);
    const largest = Math.max(0, ...(this.description?.actors.map((actor) => actor.size) ?? []));
    let distance = radius / Math.sin(usualView / 2) / Math.max(Math.min(1, this.camera.aspect), 0.4);
    if (largest > 0 && radius > spreadOut * largest) {
      // Small robots on wide ground: that is a disc, which is flatter on the screen than a ball.
      // Robots in its corners, and all of a robot at its edge, are to be seen as well.
      const wide = 1.06 * radius + 0.8 * largest;
      const seen = fittingView(overviewDirection, Math.max(this.camera.aspect, 0.6), wide, largest);
      this.controls.target.addScaledVector(towardsEye, seen.shift);
      distance = seen.distance;
    }
    this.camera.position.copy(this.controls.target).addScaledVector(overviewDirection, distance);
  }

  private enterOrbit(before: string, target: string | undefined): void {
    const actor = this.actor(target ?? null);
    const object = actor && this.objects.get(actor.node);
    if (actor && object) {
      // Closer to what was chosen, from where the eye is.
      centreOf(object, this.controls.target);
      if (!fromOwnPlace.has(before)) this.overview();
      centreOf(object, this.controls.target);
      offset.copy(this.camera.position).sub(this.controls.target);
      if (offset.length() > 14 * actor.size) offset.setLength(7 * actor.size);
      this.camera.position.copy(this.controls.target).add(offset);
    } else if (!fromOwnPlace.has(before)) this.overview();
  }

  private enterChase(actor: ActorInfo): void {
    const object = this.objects.get(actor.node);
    if (!object) return;
    const yaw = headingOf(object);
    centreOf(object, this.controls.target);
    const [back, high] = [4.6 * actor.size, 1.9 * actor.size];
    this.camera.position.copy(this.controls.target);
    this.camera.position.x -= back * Math.cos(yaw);
    this.camera.position.y -= back * Math.sin(yaw);
    this.camera.position.z += high;
  }

  private enterAbove(actor: ActorInfo | undefined): void {
    const object = actor && this.objects.get(actor.node);
    if (object) centreOf(object, this.controls.target);
    const radius = Math.max(this.description?.radius ?? 3, 2 * (actor?.size ?? 0));
    // A hair beside the vertical: north (y) is then up on the screen.
    this.camera.position.copy(this.controls.target);
    this.camera.position.y -= 1e-3 * radius;
    this.camera.position.z += (1.15 * radius) / Math.tan(usualView / 2) / Math.min(1, Math.max(this.camera.aspect, 0.4));
  }

  private note(): void {
    const actor = this.actor(this.target);
    const object = actor && this.objects.get(actor.node);
    if (!object) return;
    centreOf(object, this.anchor);
    this.yaw = headingOf(object);
  }

  /** Moves eye and pivot with the target; a chasing eye also turns with it. */
  private carry(object: Object3D, seconds: number): void {
    centreOf(object, place);
    const jumped = place.distanceTo(this.anchor) > 20 * (this.actor(this.target)?.size ?? 1);
    offset.copy(place).sub(this.anchor);
    this.anchor.copy(place);
    this.controls.target.add(offset);
    this.camera.position.add(offset);
    if (this.name !== "chase") return;
    const wanted = headingOf(object);
    let turn = wrapped(wanted - this.yaw);
    if (!jumped) turn *= 1 - Math.exp(-turnRate * seconds);
    this.yaw = wrapped(this.yaw + turn);
    offset.copy(this.camera.position).sub(this.controls.target).applyAxisAngle(zAxis, turn);
    this.camera.position.copy(this.controls.target).add(offset);
  }

  private sitOn(actor: ActorInfo, object: Object3D): void {
    const arm = this.description?.indicators.find((one) => one.kind === "arm" && one.robot === actor.name);
    const tool = arm?.kind === "arm" ? this.objects.get(arm.tool) : undefined;
    if (tool) {
      // An arm sees what its tool is about to touch: from beside the wrist, along the tool's z.
      tool.matrixWorld.decompose(place, turned, offset);
      this.camera.quaternion.copy(turned).multiply(alongZ);
      offset.set(0, -0.14 * actor.size, -0.22 * actor.size).applyQuaternion(turned);
      this.camera.position.copy(place).add(offset);
      return;
    }
    const box = this.boundsOf(actor.node, object);
    object.matrixWorld.decompose(place, turned, offset);
    // At the front of the roof, where nothing of the robot is before the eye.
    offset.set(box.max.x - 0.12 * actor.size, 0.5 * (box.min.y + box.max.y), box.max.z + 0.16 * actor.size);
    this.camera.position.copy(place).add(offset.applyQuaternion(turned));
    this.camera.quaternion.copy(turned).multiply(alongX);
  }

  private boundsOf(node: string, object: Object3D): Box3 {
    const known = this.bounds.get(node);
    if (known) return known;
    const box = localBounds(object);
    this.bounds.set(node, box);
    return box;
  }

  private takeOwn(): void {
    const own = this.description?.cameras.find((camera) => camera.name === this.name);
    if (!own) return;
    const carrier = own.node ? this.objects.get(own.node) : undefined;
    setPlace(own, this.camera);
    this.fieldOfView(own.vertical_view / this.zoom);
    if (!carrier) return;
    this.camera.position.applyMatrix4(carrier.matrixWorld);
    carrier.matrixWorld.decompose(place, turned, offset);
    this.camera.quaternion.premultiply(turned);
  }

  /** The user's own turn of the head, and zoom, for eyes that have a place of their own. */
  private lookAround(): void {
    if (this.name !== "follow") {
      this.camera.quaternion.premultiply(turned.setFromAxisAngle(zAxis, this.lookYaw));
      this.camera.quaternion.multiply(turned.setFromAxisAngle(xAxis, this.lookPitch));
    }
    if (commonCameras.includes(this.name as "fixed")) this.fieldOfView(usualView / this.zoom);
  }

  private readonly pressed = (event: PointerEvent): void => {
    if (!this.controls.enabled) this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };

  private readonly released = (event: PointerEvent): void => {
    this.pointers.delete(event.pointerId);
  };

  private readonly moved = (event: PointerEvent): void => {
    const last = this.pointers.get(event.pointerId);
    if (!last || this.controls.enabled) return;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      if (before > 0) this.setZoom((this.zoom * after) / before);
    } else {
      const perPixel = (this.camera.fov * Math.PI) / 180 / Math.max(1, this.element.clientHeight);
      this.lookYaw = wrapped(this.lookYaw + (event.clientX - last.x) * perPixel);
      this.lookPitch = Math.min(1.3, Math.max(-1.3, this.lookPitch + (event.clientY - last.y) * perPixel));
    }
    last.x = event.clientX;
    last.y = event.clientY;
  };

  private readonly wheeled = (event: WheelEvent): void => {
    if (!this.controls.enabled) this.setZoom(this.zoom * Math.exp(-0.0012 * event.deltaY));
  };

  private setZoom(zoom: number): void {
    this.zoom = Math.min(12, Math.max(0.5, zoom));
  }
}

/** Cameras whose eye stands somewhere in the world: the next one may stay there. */
const fromOwnPlace = new Set(["orbit", "chase", "above", "fixed", "follow"]);
const overviewDirection = new Vector3(-0.55, -0.95, 0.62).normalize();
const towardsEye = overviewDirection.clone().setZ(0).normalize();
/** From this many robots' sizes on, a scene's radius is ground rather than a robot with some room. */
const spreadOut = 2.5;
const zAxis = new Vector3(0, 0, 1);
const xAxis = new Vector3(1, 0, 0);
const place = new Vector3();
const offset = new Vector3();
const turned = new Quaternion();
/** From looking along −z with y up to looking along x with z up, a little downwards. */
const alongX = new Quaternion(0.5, -0.5, -0.5, 0.5).multiply(
  new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), -0.12),
);
/** From looking along −z to looking along z. */
const alongZ = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), Math.PI);

/** How an eye in `direction` sees a disc of ground, and what stands on it up to `height`, as large as its view allows:
 * its distance from the point that it looks at, and how far that point is from the disc's centre, towards the eye. The
 * near edge is larger on the screen than the far one, so that a view of the centre would waste what is above. */
export function fittingView(
  direction: Vector3,
  aspect: number,
  radius: number,
  height: number,
): { distance: number; shift: number } {
  const ahead = direction.clone().negate();
  const right = new Vector3().crossVectors(ahead, zAxis).normalize();
  const above = new Vector3().crossVectors(right, ahead);
  const near = direction.clone().setZ(0).normalize();
  const half = Math.tan(usualView / 2);
  const needed = (shift: number): number => {
    let distance = 0;
    for (let k = 0; k < 48; k++) {
      const angle = (k * Math.PI) / 24;
      for (const z of [0, height]) {
        const point = new Vector3(radius * Math.cos(angle), radius * Math.sin(angle), z).addScaledVector(near, -shift);
        const [x, y] = [point.dot(right), point.dot(above)];
        const across = Math.abs(x) / (free.side * half * aspect);
        const along = y > 0 ? y / (free.up * half) : -y / (free.down * half);
        distance = Math.max(distance, Math.max(across, along) - point.dot(ahead));
      }
    }
    return distance;
  };
  let best = { distance: needed(0), shift: 0 };
  let least = best.distance;
  // No farther: what is worth seeing is mostly near the centre.
  for (let share = 0.05; share < 0.26; share += 0.05) {
    const [distance, shift] = [needed(share * radius), share * radius];
    // From the centre: what counts is how large the middle is.
    const away = distance + shift * near.dot(direction);
    if (away < 0.995 * least) [best, least] = [{ distance, shift }, away];
  }
  return best;
}

function centreOf(object: Object3D, out: Vector3): Vector3 {
  return out.setFromMatrixPosition(object.matrixWorld);
}

/** Direction of an object's x axis over ground; of its z axis where x points up or down. */
function headingOf(object: Object3D): number {
  const e = object.matrixWorld.elements;
  if (Math.hypot(e[0]!, e[1]!) > 0.2) return Math.atan2(e[1]!, e[0]!);
  return Math.atan2(-Math.sign(e[2]!) * e[9]!, -Math.sign(e[2]!) * e[8]!);
}

function wrapped(angle: number): number {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}

function setPlace(info: CameraInfo, camera: PerspectiveCamera): void {
  const [x, y, z, qw, qx, qy, qz] = info.place;
  camera.position.set(x, y, z);
  camera.quaternion.set(qx, qy, qz, qw);
}
