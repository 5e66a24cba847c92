import { BoxGeometry, InstancedMesh, Matrix4, Mesh, Object3D, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { LayerMarks, roofOf, velocityAt } from "../src/marks";
import type { MarkInfo, SceneDescription, SceneLayer, SpotInfo, Vector } from "../src/protocol";

describe("velocity at a wheel's contact", () => {
  // Heading north (y) at (10, 20, 1): ahead is the world's y, left its −x.
  const body = new Matrix4().makeRotationZ(Math.PI / 2).setPosition(10, 20, 1);

  it("is v + ω × r in the world's axes", () => {
    // 2 m/s ahead, turning left at 0.5 rad/s, rolling at 3 rad/s about the axis ahead.
    const twist = [2, 0, 0, 3, 0, 0.5];
    // The left front wheel: 0.4 ahead, 0.3 to the left, 0.2 below.
    const found = velocityAt(twist, body, new Vector3(9.7, 20.4, 0.8)).toArray();
    // In the body: v = (2 − 0.5·0.3, 0.5·0.4 + 3·0.2, 3·0.3) = (1.85, 0.8, 0.9).
    [-0.8, 1.85, 0.9].forEach((wanted, k) => expect(found[k]).toBeCloseTo(wanted, 12));
  });

  it("takes planar twists", () => {
    const planar = velocityAt([1, 0, 2], body, new Vector3(9.5, 20, 0)).toArray();
    [0, 0, 0].forEach((wanted, k) => expect(planar[k]).toBeCloseTo(wanted, 12));
  });
});

describe("marks of a layer", () => {
  const spot: SpotInfo = { node: "r", offset: [0, 0, 0], point: null, rest_of: null, on_top: false };
  const arrow = { kind: "Arrow", shown_by: null, at: spot, channel: "f", components: [0, 1, 2] as Vector, axes: "world",
                  normal: null, beside: null } satisfies MarkInfo; // prettier-ignore
  const body = new Object3D();
  body.rotation.z = Math.PI / 2;
  body.position.set(3, 4, 0);
  body.updateMatrixWorld();

  /** One layer that is switched on, drawn by these numbers. */
  function drawn(marks: MarkInfo[], values: Record<string, number[]>): LayerMarks {
    const layer: SceneLayer = { name: "one", texts: { en: ["One", ""] }, on: true, colour: "#fff", unit: "N", longest: 1,
                                least: 0.01, marks, channels: [] }; // prettier-ignore
    const actors = [{ name: "r", node: "r", size: 1, hands: "none" }];
    const scene = { actors, layers: [layer], nodes: [], radius: 3 } as unknown as SceneDescription;
    const all = new LayerMarks(scene, new Map([["r", body]]));
    all.setLayer("one", true);
    all.update((name) => values[name] ?? null, 0);
    return all;
  }

  /** Place and direction of what is drawn first. */
  function first(all: LayerMarks): [number[], number[]] {
    let found: Matrix4 | null = null;
    all.traverse((one) => {
      if (found || !(one instanceof InstancedMesh) || one.count === 0) return;
      found = new Matrix4().fromArray(one.instanceMatrix.array, 0);
    });
    const along = new Vector3().setFromMatrixColumn(found!, 2).normalize();
    return [new Vector3().setFromMatrixPosition(found!).toArray(), along.toArray()];
  }

  const near = (found: number[], wanted: number[]): void =>
    wanted.forEach((one, k) => expect(found[k]).toBeCloseTo(one, 6));

  it("points as its axes say", () => {
    near(first(drawn([arrow], { f: [2, 0, 0] }))[1], [1, 0, 0]);
    near(first(drawn([{ ...arrow, axes: "node" }], { f: [2, 0, 0] }))[1], [0, 1, 0]);
    near(first(drawn([{ ...arrow, axes: "twist" }], { f: [0, 2, 9] }))[1], [-1, 0, 0]);
    // Ground that rises to the north, where the body is heading.
    const rising = [0, -0.6, 0.8];
    const along = { ...arrow, axes: "ground", normal: "n" } satisfies MarkInfo;
    near(first(drawn([along], { f: [2, 0, 0], n: rising }))[1], [0, 0.8, 0.6]);
    near(first(drawn([{ ...along, components: [-1, 0, -1] }], { f: [2], n: rising }))[1], [-1, 0, 0]);
    near(first(drawn([{ ...along, components: [-1, -1, 0] }], { f: [2], n: rising }))[1], rising);
  });

  it("stands at its spot", () => {
    const at = (changes: Partial<SpotInfo>) =>
      first(drawn([{ ...arrow, at: { ...spot, ...changes } }], { f: [2, 0, 0], p: [7, 8, 9], t: [1, 0, 0.5] }))[0];
    near(at({}), [3, 4, 0]);
    near(at({ offset: [1, 0, 2] }), [3, 5, 2]);
    near(at({ offset: [1, 0, 2], node: null }), [1, 0, 2]);
    near(at({ point: "p" }), [7, 8, 9]);
    // Turning left at 0.5 rad/s while going 1 m/s north: 2 m to the left.
    near(at({ rest_of: "t" }), [1, 4, 0]);
  });

  it("is hidden by its channel, without numbers, and with its node", () => {
    const rest = { kind: "Point", shown_by: null, at: { ...spot, rest_of: "t" }, size: 1 } satisfies MarkInfo;
    expect(drawn([arrow, { ...arrow, shown_by: "s" }], { f: [1, 0, 0], s: [0] }).drawn("one")).toBe(1);
    expect(drawn([arrow], {}).drawn("one")).toBe(0);
    expect(drawn([rest], { t: [1, 0, 0] }).drawn("one")).toBe(0);
    expect(drawn([{ ...arrow, at: { ...spot, node: "gone" } }], { f: [1, 0, 0] }).drawn("one")).toBe(0);
    body.visible = false;
    expect(drawn([arrow], { f: [1, 0, 0] }).drawn("one")).toBe(0);
    body.visible = true;
    const ring = { kind: "Ring", shown_by: null, at: spot, radius: 1 } satisfies MarkInfo;
    const line = { kind: "Line", shown_by: null, at: spot, to: { ...spot, node: null }, size: 1 } satisfies MarkInfo;
    const frame = { kind: "Frame", shown_by: null, at: spot, length: 1 } satisfies MarkInfo;
    const all = drawn([ring, line, frame], {});
    expect(all.drawn("one")).toBe(3);
    all.setLayer("one", false);
    expect(all.drawn("one")).toBe(0);
  });

  it("has its scale in the legend; what is beside it counts", () => {
    expect(drawn([arrow], { f: [2, 0, 0] }).legend()).toEqual([{ title: "One", colour: "#fff", perMetre: 2, unit: "N" }]);
    const small = drawn([{ ...arrow, beside: "load" }], { f: [10, 0, 0], load: [100] });
    expect(small.legend()[0]?.perMetre).toBe(100);
    expect(drawn([arrow], {}).legend()).toEqual([]);
  });
});

describe("places of marks", () => {
  it("a velocity starts on top of its body, where that is highest above its origin", () => {
    const body = new Object3D();
    const hull = new Mesh(new BoxGeometry(2, 1, 0.4));
    hull.position.set(0.3, 0, 0.1);
    const antenna = new Mesh(new BoxGeometry(0.05, 0.05, 2));
    antenna.position.set(-0.5, 0.3, 1);
    body.add(hull, antenna);
    expect(roofOf(body, 10)).toBeCloseTo(0.3, 6);
    // Also lying on its side, somewhere else.
    body.position.set(4, -2, 7);
    body.rotation.set(1.1, -0.4, 2);
    expect(roofOf(body, 10)).toBeCloseTo(0.3, 6);
    expect(roofOf(new Object3D(), 10)).toBe(0);
  });
});
