import { Object3D, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { Cameras } from "../src/cameras";
import type { SceneDescription, Vector } from "../src/protocol";

const listens = { addEventListener: () => {}, removeEventListener: () => {} };
const page = { ownerDocument: listens, getRootNode: () => listens, style: {}, clientHeight: 400 };
const element = { ...listens, ...page } as unknown as HTMLElement;

/** A scene with a single robot of size 1; `radius` says how much else there is to look at. */
function eyes(radius: number): { cameras: Cameras; robot: Object3D } {
  const robot = new Object3D();
  const actors = [{ name: "quad", node: "body", size: 1, hands: "flight" }];
  const scene = { nodes: [], channels: [], actors, cameras: [], indicators: [], centre: [0, 0, 0], radius };
  const cameras = new Cameras(element);
  cameras.enter(scene as unknown as SceneDescription, new Map([["body", robot]]), radius);
  cameras.update(0.1);
  return { cameras, robot };
}

function fly(robot: Object3D, cameras: Cameras, to: Vector): void {
  robot.position.set(...to);
  robot.updateMatrixWorld();
  cameras.update(0.1);
}

describe("a free eye", () => {
  it("tells how it goes along with the robot, wherever both have come to", () => {
    const { cameras, robot } = eyes(2);
    const before = cameras.view();
    expect(before.along?.robot).toBe("quad");
    fly(robot, cameras, [5, -3, 8]);
    const { eye, along } = cameras.view();
    expect(along).toBeDefined();
    [0, 1, 2].forEach((k) => {
      expect(along!.eye[k]).toBeCloseTo(before.along!.eye[k]!, 6);
      expect(along!.target[k]).toBeCloseTo(before.along!.target[k]!, 6);
      expect(along!.eye[k]! + [5, -3, 8][k]!).toBeCloseTo(eye[k]!, 6);
    });
    expect(new Vector3(...along!.target).length()).toBeLessThan(1);
  });

  it("that looks at a whole scene stands still, until it is bound to a robot", () => {
    const { cameras, robot } = eyes(20);
    expect(cameras.view().along).toBeUndefined();
    fly(robot, cameras, [5, -3, 0]);
    expect(cameras.view().along).toBeUndefined();
    cameras.choose("orbit", "quad");
    expect(cameras.view().along?.robot).toBe("quad");
    cameras.choose("fixed");
    expect(cameras.view().along).toBeUndefined();
  });
});
