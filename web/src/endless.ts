/** Ground without end: mirror images of a terrain about the place that is looked at, finely where robots drive. */

import { BufferGeometry, Group, Mesh, type Object3D, type Vector3 } from "three";
import type { RepeatsInfo } from "./protocol";

/** Mirror images to each side: drawn with all lines, and with few. */
const FINE = 1;
const FAR = 3;
const COARSE_LINES = 32;

/** Number and sign of the image that a coordinate lies on: 0 is the terrain itself, odd ones are mirrored. */
export function imageAt(value: number, [low, high]: readonly [number, number]): { number: number; sign: 1 | -1 } {
  const number = Math.floor((value - low) / (high - low));
  return { number, sign: number % 2 === 0 ? 1 : -1 };
}

/** Where an image's local coordinates begin: x of the world is `offset + sign * x` of the terrain. */
export function imageOffset(number: number, [low, high]: readonly [number, number]): number {
  return number % 2 === 0 ? number * (high - low) : number * (high - low) + low + high;
}

export class EndlessGround extends Group {
  private readonly tiles: { mesh: Mesh; i: number; j: number }[] = [];
  private readonly coarse: BufferGeometry;
  private at = { i: NaN, j: NaN };

  constructor(
    private readonly info: RepeatsInfo,
    surface: Mesh,
  ) {
    super();
    this.coarse = thinned(surface.geometry, info.lines);
    for (let i = -FAR; i <= FAR; i++)
      for (let j = -FAR; j <= FAR; j++) {
        const fine = Math.max(Math.abs(i), Math.abs(j)) <= FINE;
        const mesh = new Mesh(fine ? surface.geometry : this.coarse, surface.material);
        mesh.receiveShadow = surface.receiveShadow;
        this.tiles.push({ mesh, i, j });
        this.add(mesh);
      }
  }

  /** Puts the images about a place. */
  follow(focus: Vector3): void {
    const [i, j] = [imageAt(focus.x, this.info.x).number, imageAt(focus.y, this.info.y).number];
    if (i === this.at.i && j === this.at.j) return;
    this.at = { i, j };
    for (const tile of this.tiles) {
      const [column, row] = [i + tile.i, j + tile.j];
      tile.mesh.scale.set(column % 2 === 0 ? 1 : -1, row % 2 === 0 ? 1 : -1, 1);
      tile.mesh.position.set(imageOffset(column, this.info.x), imageOffset(row, this.info.y), 0);
    }
  }

  /** Geometry and material of the fine ones belong to the scene. */
  free(): void {
    this.coarse.dispose();
    this.removeFromParent();
  }
}

/** The same points with triangles between few of their lines. */
export function thinned(geometry: BufferGeometry, [n, m]: readonly [number, number]): BufferGeometry {
  const [rows, columns] = [few(n), few(m)];
  const index: number[] = [];
  for (let a = 1; a < rows.length; a++)
    for (let b = 1; b < columns.length; b++) {
      const [i0, i1, j0, j1] = [rows[a - 1]! * m, rows[a]! * m, columns[b - 1]!, columns[b]!];
      index.push(i0 + j0, i1 + j0, i1 + j1, i0 + j0, i1 + j1, i0 + j1);
    }
  const found = new BufferGeometry();
  for (const [name, attribute] of Object.entries(geometry.attributes)) found.setAttribute(name, attribute);
  found.setIndex(index);
  return found;
}

function few(count: number): number[] {
  const lines = Math.min(count, COARSE_LINES + 1);
  return Array.from({ length: lines }, (_, k) => Math.round((k * (count - 1)) / (lines - 1)));
}

/** The mesh of a node that has as many points as the terrain has. */
export function surfaceOf(node: Object3D, { lines: [n, m] }: RepeatsInfo): Mesh | null {
  let found: Mesh | null = null;
  node.traverse((one) => {
    if (one instanceof Mesh && (one.geometry as BufferGeometry).getAttribute("position").count === n * m) found ??= one;
  });
  return found;
}
