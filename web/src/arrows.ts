/** Many arrows of one colour, drawn at once; what is hidden by a body still shows through, faintly. */

import {
  BufferAttribute,
  BufferGeometry,
  ConeGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";

/** A field of instances that is filled anew each frame. */
export class Marks extends Group {
  protected used = 0;
  private readonly meshes: { mesh: InstancedMesh; matrices: InstancedBufferAttribute }[] = [];

  /** `through`: how much shows through bodies, 0 to 1. */
  constructor(
    geometries: BufferGeometry[],
    colour: string,
    readonly capacity: number,
    through = 0.3,
    opacity = 1,
  ) {
    super();
    const solid = new MeshStandardMaterial({
      color: colour,
      roughness: 0.55,
      emissive: colour,
      emissiveIntensity: 0.35,
      transparent: opacity < 1,
      opacity,
      fog: false,
    });
    const faint = new MeshBasicMaterial({
      color: colour,
      transparent: true,
      opacity: through,
      depthTest: false,
      depthWrite: false,
      fog: false,
    });
    for (const geometry of geometries) {
      const matrices = new InstancedBufferAttribute(new Float32Array(16 * capacity), 16);
      matrices.setUsage(DynamicDrawUsage);
      for (const material of through > 0 ? [solid, faint] : [solid]) {
        const mesh = new InstancedMesh(geometry, material, capacity);
        mesh.instanceMatrix = matrices;
        mesh.count = 0;
        mesh.visible = false;
        mesh.frustumCulled = false;
        mesh.renderOrder = material === faint ? 20 : 0;
        this.meshes.push({ mesh, matrices });
        this.add(mesh);
      }
    }
  }

  begin(): void {
    this.used = 0;
  }

  end(): void {
    // Nothing to draw needs no shader either.
    for (const { mesh } of this.meshes) mesh.visible = this.used > 0;
    for (const { mesh, matrices } of this.meshes) {
      mesh.count = this.used;
      matrices.clearUpdateRanges();
      matrices.addUpdateRange(0, 16 * this.used);
      matrices.needsUpdate = true;
    }
  }

  get shown(): number {
    return this.used;
  }

  free(): void {
    for (const { mesh } of this.meshes) {
      mesh.geometry.dispose();
      (mesh.material as MeshBasicMaterial).dispose();
      mesh.dispose();
    }
    this.removeFromParent();
  }

  /** The matrix of the next instance of part `k`. */
  protected place(k: number, matrix: Matrix4): void {
    const parts = this.meshes.length === this.partCount ? k : k * (this.meshes.length / this.partCount);
    matrix.toArray(this.meshes[parts]!.matrices.array, 16 * this.used);
  }

  protected get partCount(): number {
    return 1;
  }
}

export class Arrows extends Marks {
  constructor(colour: string, capacity = 64, through = 0.3) {
    super([shaftGeometry(), headGeometry()], colour, capacity, through);
  }

  protected override get partCount(): number {
    return 2;
  }

  /** From `start` along `vector`, as long as that; `thick`: diameter of the shaft. */
  arrow(start: Vector3, vector: Vector3, thick: number): void {
    const length = vector.length();
    if (this.used >= this.capacity || !(length > 0.5 * thick) || !Number.isFinite(length)) return;
    const head = Math.min(4 * thick, 0.6 * length);
    turn.setFromUnitVectors(zAxis, direction.copy(vector).divideScalar(length));
    size.set(thick, thick, length - 0.95 * head);
    this.place(0, matrix.compose(start, turn, size));
    size.set(Math.min(2.7 * thick, 0.5 * length), Math.min(2.7 * thick, 0.5 * length), head);
    this.place(1, matrix.compose(tip.copy(start).addScaledVector(direction, length - head), turn, size));
    this.used++;
  }
}

export class Balls extends Marks {
  constructor(colour: string, capacity = 64, through = 0.4) {
    super([new SphereGeometry(0.5, 16, 12)], colour, capacity, through);
  }

  ball(at: Vector3, diameter: number): void {
    if (this.used >= this.capacity || !Number.isFinite(at.x + at.y + at.z)) return;
    this.place(0, matrix.compose(at, noTurn, size.setScalar(diameter)));
    this.used++;
  }
}

/** Straight rods between two points. */
export class Rods extends Marks {
  constructor(colour: string, capacity = 64, through = 0.35) {
    super([shaftGeometry()], colour, capacity, through, 0.8);
  }

  rod(from: Vector3, to: Vector3, thick: number): void {
    direction.copy(to).sub(from);
    const length = direction.length();
    if (this.used >= this.capacity || !(length > 1e-6) || !Number.isFinite(length)) return;
    turn.setFromUnitVectors(zAxis, direction.divideScalar(length));
    this.place(0, matrix.compose(from, turn, size.set(thick, thick, length)));
    this.used++;
  }
}

/** Axes of frames: red x, green y, blue z. */
export class Axes extends InstancedMesh {
  constructor(readonly capacity: number) {
    super(axesGeometry(), new MeshBasicMaterial({ vertexColors: true, fog: false, depthTest: false }), capacity);
    this.count = 0;
    this.visible = false;
    this.frustumCulled = false;
    this.renderOrder = 21;
  }

  frame(world: Matrix4, length: number): void {
    if (this.count >= this.capacity) return;
    world.decompose(tip, turn, size);
    this.setMatrixAt(this.count, matrix.compose(tip, turn, size.setScalar(length)));
    this.count++;
    this.instanceMatrix.needsUpdate = true;
  }

  free(): void {
    this.geometry.dispose();
    (this.material as MeshBasicMaterial).dispose();
    this.dispose();
    this.removeFromParent();
  }
}

const zAxis = new Vector3(0, 0, 1);
const noTurn = new Quaternion();
const turn = new Quaternion();
const direction = new Vector3();
const tip = new Vector3();
const size = new Vector3();
const matrix = new Matrix4();

/** Along z from 0 to 1, one across. */
function shaftGeometry(): BufferGeometry {
  return new CylinderGeometry(0.5, 0.5, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

function headGeometry(): BufferGeometry {
  return new ConeGeometry(0.5, 1, 16).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

function axesGeometry(): BufferGeometry {
  const arrow = mergeGeometries([
    shaftGeometry().scale(0.035, 0.035, 0.82),
    headGeometry().scale(0.1, 0.1, 0.2).translate(0, 0, 0.8),
  ]);
  const parts = [
    coloured(arrow.clone().rotateY(Math.PI / 2), 0.95, 0.22, 0.2),
    coloured(arrow.clone().rotateX(-Math.PI / 2), 0.25, 0.75, 0.25),
    coloured(arrow, 0.2, 0.42, 1.0),
  ];
  return mergeGeometries(parts);
}

function coloured(geometry: BufferGeometry, red: number, green: number, blue: number): BufferGeometry {
  const n = geometry.getAttribute("position").count;
  const colours = new Float32Array(3 * n);
  for (let i = 0; i < n; i++) colours.set([red, green, blue], 3 * i);
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  return geometry;
}
