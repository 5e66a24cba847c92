import { Object3D, Quaternion, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { Rig } from "../src/motions";
import type { NodeInfo, Place } from "../src/protocol";
// Written by tools/make_pose_fixture.py from node_poses of the simulator.
import fixture from "./poses.json";

interface Case {
  nodes: NodeInfo[];
  tree: { name: string; parent: string | null; place: Place }[];
  values: Record<string, number[]>;
  poses: Record<string, number[]>;
}

const cases = fixture as unknown as Case[];

function grown(tree: Case["tree"]): { root: Object3D; objects: Map<string, Object3D> } {
  const root = new Object3D();
  const objects = new Map<string, Object3D>();
  for (const { name, parent, place } of tree) {
    const object = new Object3D();
    object.position.set(place[0], place[1], place[2]);
    object.quaternion.set(place[4], place[5], place[6], place[3]);
    (parent === null ? root : objects.get(parent)!).add(object);
    objects.set(name, object);
  }
  return { root, objects };
}

function isShown(object: Object3D): boolean {
  for (let one: Object3D | null = object; one; one = one.parent) if (!one.visible) return false;
  return true;
}

describe("poses", () => {
  it.each(cases.map((one, k) => [k, one] as const))("are those of the simulator, case %i", (_, one) => {
    const { root, objects } = grown(one.tree);
    new Rig(objects, one.nodes).apply((channel) => one.values[channel] ?? null);
    root.updateMatrixWorld(true);
    for (const [name, object] of objects) {
      const wanted = one.poses[name];
      expect(isShown(object), name).toBe(wanted !== undefined);
      if (!wanted) continue;
      const at = object.getWorldPosition(new Vector3()).toArray();
      for (let i = 0; i < 3; i++) expect(at[i], name).toBeCloseTo(wanted[i]!, 8);
      const turn = object.getWorldQuaternion(new Quaternion());
      const same = turn.dot(new Quaternion(wanted[4], wanted[5], wanted[6], wanted[3]));
      expect(Math.abs(same), name).toBeCloseTo(1, 9);
    }
  });

  it("cover the cases that matter", () => {
    expect(cases.some((one) => Object.keys(one.poses).length < one.tree.length)).toBe(true);
    expect(cases.some((one) => one.values["robot/lift"] === undefined)).toBe(true);
    expect(new Set(cases.map((one) => one.values["robot/pose"]!.length))).toEqual(new Set([3, 7]));
  });

  it("stay where they were when a value is not finite", () => {
    const one = cases[0]!;
    const { objects } = grown(one.tree);
    const rig = new Rig(objects, one.nodes);
    rig.apply((channel) => one.values[channel] ?? null);
    const before = objects.get("robot")!.position.toArray();
    rig.apply(() => [NaN, NaN, NaN, NaN, NaN, NaN, NaN]);
    expect(objects.get("robot")!.position.toArray()).toEqual(before);
  });
});
