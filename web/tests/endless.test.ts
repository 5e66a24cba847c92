import { BufferAttribute, BufferGeometry, Mesh, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { EndlessGround, imageOffset, thinned } from "../src/endless";

/** A grid of n × m points over x from −1 to 2 and y from 0 to 2, as the server lays it out. */
function surface(n: number, m: number): BufferGeometry {
  const points: number[] = [];
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) points.push(-1 + (3 * i) / (n - 1), (2 * j) / (m - 1), i + j);
  return new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
}

const info = { node: "ground", x: [-1, 2] as [number, number], y: [0, 2] as [number, number], lines: [4, 3] as [number, number] };

describe("ground without end", () => {
  it("has images that meet edge to edge", () => {
    for (let k = -4; k < 4; k++) {
      const end = imageOffset(k, info.x) + (k % 2 === 0 ? 1 : -1) * (k % 2 === 0 ? 2 : -1);
      const begin = imageOffset(k + 1, info.x) + ((k + 1) % 2 === 0 ? 1 : -1) * ((k + 1) % 2 === 0 ? -1 : 2);
      expect(end).toBeCloseTo(begin, 12);
    }
  });

  it("lies about the place that is looked at, however far that is", () => {
    const ground = new EndlessGround(info, new Mesh(surface(4, 3)));
    for (const place of [new Vector3(0, 1, 0), new Vector3(1000.5, -333, 0)]) {
      ground.follow(place);
      const spans = ground.children.map((tile) => {
        const ends = [-1, 2].map((x) => tile.position.x + tile.scale.x * x);
        return [Math.min(...ends), Math.max(...ends)] as const;
      });
      expect(Math.min(...spans.map(([low]) => low))).toBeLessThan(place.x - 8);
      expect(Math.max(...spans.map(([, high]) => high))).toBeGreaterThan(place.x + 8);
      expect(spans.some(([low, high]) => low <= place.x && place.x <= high)).toBe(true);
    }
  });

  it("keeps its corners where it is drawn with few lines", () => {
    const index = [...thinned(surface(101, 81), [101, 81]).getIndex()!.array];
    for (const corner of [0, 80, 100 * 81, 101 * 81 - 1]) expect(index).toContain(corner);
    expect(index.length).toBe(32 * 32 * 6);
  });
});
