/** Marks of layers over the world: arrows, points, lines, rings, frames and texts that channels move. What they show is
 * said by the records of src/botz/scene/lab_layers.py, and of other packages. */

import { Group, Matrix4, Mesh, MeshBasicMaterial, Raycaster, RingGeometry, Vector3, type Object3D } from "three";
import { Arrows, Axes, Balls, Rods } from "./arrows";
import { number, translated } from "./i18n";
import { Label } from "./overlays";
import type { ActorInfo, Lookup, MarkInfo, SceneDescription, SceneLayer, SpotInfo } from "./protocol";
import { ArrowScale } from "./scales";

type Of<Kind extends MarkInfo["kind"]> = Extract<MarkInfo, { kind: Kind }>;

export interface LegendEntry {
  title: string;
  colour: string;
  /** What one metre of arrow stands for. */
  perMetre: number;
  unit: string;
}

/** All layers of a scene that are drawn by marks. */
export class LayerMarks extends Group {
  private readonly marked: MarkedLayer[] = [];
  /** By unit. */
  private readonly scales = new Map<string, ArrowScale>();

  constructor(description: SceneDescription, objects: ReadonlyMap<string, Object3D>) {
    super();
    const places = new Places(description, objects);
    for (const layer of description.layers) {
      if (layer.marks.every((mark) => mark.kind === "PageDrawn")) continue;
      const length = layer.longest * typicalSize(description);
      if (!this.scales.has(layer.unit)) this.scales.set(layer.unit, new ArrowScale(length, layer.least));
      this.marked.push(new MarkedLayer(layer, places));
    }
    if (this.marked.length) this.add(...this.marked);
  }

  setLayer(name: string, on: boolean): void {
    for (const one of this.marked) if (one.layer.name === name) one.visible = on;
  }

  /** How many marks of a layer are drawn at the moment. */
  drawn(name: string): number {
    return this.marked.find((one) => one.layer.name === name && one.visible)?.drawn ?? 0;
  }

  legend(): LegendEntry[] {
    return this.marked.flatMap(({ visible, arrows, layer }) => {
      const { perMetre } = this.scales.get(layer.unit)!;
      const { colour, unit } = layer;
      return visible && arrows.shown > 0 ? [{ title: translated(layer.texts)[0], colour, perMetre, unit }] : [];
    });
  }

  /** After the nodes have been placed. `now`: seconds of the page's clock. */
  update(lookup: Lookup, now: number): void {
    const on = this.marked.filter((one) => one.visible);
    for (const [unit, scale] of this.scales) {
      const greatest = Math.max(0, ...on.map((one) => (one.layer.unit === unit ? one.measure(lookup) : 0)));
      if (greatest > 0) scale.see(greatest, now);
    }
    for (const one of on) one.update(lookup, this.scales.get(one.layer.unit)!);
  }

  free(): void {
    for (const one of this.marked) one.free();
    this.removeFromParent();
  }
}

interface Vectored {
  mark: Of<"Arrow">;
  from: Vector3;
  vector: Vector3;
  shown: boolean;
}

class MarkedLayer extends Group {
  override visible = false;
  readonly arrows: Arrows;
  private readonly points: Balls;
  private readonly lines: Rods;
  private readonly axes: Axes;
  private readonly rings: { mark: Of<"Ring">; mesh: Mesh<RingGeometry, MeshBasicMaterial> }[];
  private readonly labels: { mark: Of<"Text">; label: Label }[];
  private readonly vectors: Vectored[];
  private readonly marks: { points: Of<"Point">[]; lines: Of<"Line">[]; frames: Of<"Frame">[] };

  constructor(
    readonly layer: SceneLayer,
    private readonly places: Places,
  ) {
    super();
    const { colour } = layer;
    const of = <Kind extends MarkInfo["kind"]>(kind: Kind): Of<Kind>[] =>
      layer.marks.filter((mark): mark is Of<Kind> => mark.kind === kind);
    this.marks = { points: of("Point"), lines: of("Line"), frames: of("Frame") };
    this.vectors = of("Arrow").map((mark) => ({ mark, from: new Vector3(), vector: new Vector3(), shown: false }));
    this.arrows = new Arrows(colour, this.vectors.length);
    this.points = new Balls(colour, this.marks.points.length);
    this.lines = new Rods(colour, this.marks.lines.length);
    this.axes = new Axes(this.marks.frames.length);
    this.rings = of("Ring").map((mark) => {
      const material = new MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.5, fog: false });
      return { mark, mesh: new Mesh(new RingGeometry(0.8 * mark.radius, mark.radius, 40), material) };
    });
    this.labels = of("Text").map((mark) => ({ mark, label: new Label() }));
    this.add(this.arrows, this.points, this.lines, this.axes, ...this.single);
  }

  private get single(): Object3D[] {
    return [...this.rings.map(({ mesh }) => mesh), ...this.labels.map(({ label }) => label)];
  }

  get drawn(): number {
    const many = this.arrows.shown + this.points.shown + this.lines.shown + this.axes.count;
    return many + this.single.filter((one) => one.visible).length;
  }

  /** Finds the arrows' vectors; the greatest number that is to be shown at their scale. */
  measure(lookup: Lookup): number {
    let greatest = 0;
    for (const one of this.vectors) {
      one.shown = this.places.find(one.mark, one.mark.at, lookup, one.from) && this.vectorOf(one, lookup);
      if (!one.shown) continue;
      const beside = one.mark.beside === null ? 0 : Math.abs(lookup(one.mark.beside)?.[0] ?? 0);
      greatest = Math.max(greatest, one.vector.length(), beside);
    }
    return greatest;
  }

  private vectorOf({ mark, from, vector }: Vectored, lookup: Lookup): boolean {
    const values = lookup(mark.channel);
    if (!values) return false;
    const body = this.places.object(mark.at)?.matrixWorld ?? world;
    if (mark.axes === "twist") {
      // An arrow on top of a body is the velocity of its origin.
      vector.copy(velocityAt(values, body, mark.at.on_top ? point.setFromMatrixPosition(body) : from));
    } else {
      vector.fromArray(mark.components.map((k) => values[k] ?? 0));
      if (mark.axes === "node") vector.applyMatrix4(axes.extractRotation(body));
      if (mark.axes === "ground") vector.applyMatrix4(groundAxes(body, mark.normal === null ? null : lookup(mark.normal)));
    }
    return true;
  }

  update(lookup: Lookup, scale: ArrowScale): void {
    const { places } = this;
    for (const one of [this.arrows, this.points, this.lines]) one.begin();
    for (const { mark, from, vector, shown } of this.vectors)
      if (shown) this.arrows.arrow(from, vector.multiplyScalar(scale.metres(1)), places.thickness(mark.at));
    for (const mark of this.marks.points)
      if (places.find(mark, mark.at, lookup, point)) this.points.ball(point, mark.size * places.thickness(mark.at));
    for (const mark of this.marks.lines)
      if (places.find(mark, mark.at, lookup, point) && places.find(mark, mark.to, lookup, end))
        this.lines.rod(point, end, mark.size * places.thickness(mark.at));
    for (const one of [this.arrows, this.points, this.lines]) one.end();
    this.axes.count = 0;
    for (const mark of this.marks.frames) {
      const body = places.object(mark.at);
      if (body && places.find(mark, mark.at, lookup, point))
        this.axes.frame(axes.extractRotation(body.matrixWorld).setPosition(point), mark.length);
    }
    this.axes.visible = this.axes.count > 0;
    for (const { mark, mesh } of this.rings) mesh.visible = places.find(mark, mark.at, lookup, mesh.position);
    for (const { mark, label } of this.labels) {
      label.visible = places.find(mark, mark.at, lookup, label.position);
      label.position.z += mark.above;
      const value = mark.channel === null ? undefined : lookup(mark.channel)?.[mark.component];
      label.write(value === undefined ? mark.text : `${mark.text} ${number(value, 3)} ${mark.unit}`.trim());
    }
  }

  free(): void {
    for (const one of [this.arrows, this.points, this.lines, this.axes]) one.free();
    for (const { mesh } of this.rings) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    for (const { label } of this.labels) label.free();
    this.removeFromParent();
  }
}

/** Where the spots of marks are, and how thick marks are there. */
class Places {
  private readonly actors = new Map<string, ActorInfo | undefined>();
  private readonly roofs = new Map<string, number>();
  private readonly thick: number;

  constructor(
    private readonly description: SceneDescription,
    private readonly objects: ReadonlyMap<string, Object3D>,
  ) {
    this.thick = 0.035 * markSize(description);
  }

  object(spot: SpotInfo): Object3D | undefined {
    return spot.node === null ? undefined : this.objects.get(spot.node);
  }

  thickness(spot: SpotInfo): number {
    const size = this.actor(spot.node ?? "")?.size;
    return size === undefined ? this.thick : Math.min(Math.max(this.thick, 0.035 * size), 0.07 * size);
  }

  /** Puts a mark's place into `out`; false while it has none, or is hidden. */
  find(mark: MarkInfo, spot: SpotInfo, lookup: Lookup, out: Vector3): boolean {
    if (mark.shown_by !== null && !((lookup(mark.shown_by)?.[0] ?? 0) > 0)) return false;
    const body = this.object(spot);
    if (spot.node !== null && !(body && shownInTree(body))) return false;
    if (spot.point !== null) {
      const at = lookup(spot.point);
      if (at) out.set(at[0]!, at[1]!, at[2] ?? 0);
      return at !== null;
    }
    out.fromArray(spot.offset);
    if (spot.rest_of !== null) {
      // In the body's axes the point at rest: v + ω × r = 0.
      const twist = lookup(spot.rest_of);
      const rate = twist?.[twist.length >= 6 ? 5 : 2] ?? 0;
      out.set(-(twist?.[1] ?? 0) / rate, (twist?.[0] ?? 0) / rate, 0);
      // Farther than this it says only: straight ahead.
      if (!(out.length() < 60 * (this.actor(spot.node ?? "")?.size ?? 0.5))) return false;
    }
    if (body && spot.on_top) out.z += this.roof(spot.node!, body) + 0.6 * this.thickness(spot);
    if (body) out.applyMatrix4(body.matrixWorld);
    return true;
  }

  private actor(node: string): ActorInfo | undefined {
    if (!this.actors.has(node))
      this.actors.set(
        node,
        this.description.actors.find((one) => one.node === node || node.startsWith(`${one.name}/`)),
      );
    return this.actors.get(node);
  }

  private roof(node: string, body: Object3D): number {
    const known = this.roofs.get(node);
    if (known !== undefined) return known;
    const found = roofOf(body, 4 * (this.actor(node)?.size ?? 1));
    this.roofs.set(node, found);
    return found;
  }
}

const world = new Matrix4();
const axes = new Matrix4();
const point = new Vector3();
const end = new Vector3();
const [ahead, left, up] = [new Vector3(), new Vector3(), new Vector3()];

/** x ahead of a body along the ground, z along the ground's normal. */
function groundAxes(body: Matrix4, normal: ArrayLike<number> | null): Matrix4 {
  if (normal && normal.length >= 3) up.set(normal[0]!, normal[1]!, normal[2]!).normalize();
  else up.set(0, 0, 1);
  ahead.setFromMatrixColumn(body, 0);
  ahead.addScaledVector(up, -ahead.dot(up)).normalize();
  return axes.makeBasis(ahead, left.crossVectors(up, ahead), up);
}

/** The size of the robot in the middle, or of one that would fit the scene. */
export function typicalSize(description: SceneDescription): number {
  const sizes = description.actors.map((actor) => actor.size).sort((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] ?? 0.15 * description.radius;
}

/** How large marks are to be: as for a robot of this size; small robots in a wide world need larger ones. */
export function markSize(description: SceneDescription): number {
  return Math.max(typicalSize(description), 0.16 * description.radius);
}

/** Height of what is drawn of a body above its own origin, along its own z; 0 where there is nothing. `far`: beyond all of
 * it. */
export function roofOf(body: Object3D, far: number): number {
  body.updateWorldMatrix(true, true);
  const from = new Vector3(0, 0, far).applyMatrix4(body.matrixWorld);
  const down = new Vector3(0, 0, -1).transformDirection(body.matrixWorld);
  const hit = new Raycaster(from, down, 0, far).intersectObject(body, true)[0];
  return hit ? far - hit.distance : 0;
}

export function shownInTree(object: Object3D): boolean {
  for (let one: Object3D | null = object; one; one = one.parent) if (!one.visible) return false;
  return true;
}

/** Velocity of a body's point that is at `at` in the world, v + ω × r, in the world's axes; r from the body's origin.
 * The twist is in the body's axes; a planar one (vx, vy, yaw rate) will do. */
export function velocityAt(twist: ArrayLike<number>, body: Matrix4, at: Vector3): Vector3 {
  const planar = twist.length < 6;
  const v = new Vector3(twist[0], twist[1], planar ? 0 : twist[2]);
  const rate = planar ? new Vector3(0, 0, twist[2]) : new Vector3(twist[3], twist[4], twist[5]);
  const axes = new Matrix4().extractRotation(body);
  const r = new Vector3().setFromMatrixPosition(body).negate().add(at);
  return v.applyMatrix4(axes).add(rate.applyMatrix4(axes).cross(r));
}
