import { Object3D, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { Cameras, fittingView } from "../src/cameras";
import type { SceneDescription, Vector } from "../src/protocol";

const listens = { addEventListener: () => {}, removeEventListener: () => {} };
const page = { ownerDocument: listens, getRootNode: () => listens, style: {}, clientHeight: 400 };
const element = { ...listens, ...page } as unknown as HTMLElement;

/** A scene with robots of size 1, which are driven by `hands`; `radius` says how much there is to look at. */
function eyes(radius: number, ...hands: string[]): { cameras: Cameras; robot: Object3D } {
  const robot = new Object3D();
  const kinds = hands.length ? hands : ["flight"];
  const actors = kinds.map((kind, k) => ({ name: k ? `other${k}` : "quad", node: k ? "" : "body", size: 1, hands: kind }));
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

  it("goes along with a single robot however wide its world is, but not with an arm", () => {
    const { cameras, robot } = eyes(20, "planar");
    const before = new Vector3(...cameras.view().eye);
    fly(robot, cameras, [50, -30, 0]);
    expect(new Vector3(...cameras.view().eye).sub(before).toArray()).toEqual([50, -30, 0].map((one) => expect.closeTo(one, 6)));
    expect(eyes(2, "arm").cameras.view().along).toBeUndefined();
  });

  it("is behind a vehicle from the first picture on, wherever that begins and heads", () => {
    const { cameras, robot } = eyes(4, "tank");
    expect(cameras.name).toBe("chase");
    robot.rotation.z = Math.PI / 2;
    for (let k = 0; k < 60; k++) fly(robot, cameras, [7, 9, 1]);
    const { eye, target } = cameras.view();
    expect(eye[0]).toBeCloseTo(7, 1);
    expect(eye[1]).toBeLessThan(9 - 3);
    expect(new Vector3(...target).distanceTo(new Vector3(7, 9, 1))).toBeLessThan(0.5);
    expect(cameras.farthest(new Vector3(7, 0, 1))).toBeCloseTo(9 + 2, 6);
  });

  it("that looks at several robots stands still, until it is bound to one", () => {
    const { cameras, robot } = eyes(20, "flight", "flight");
    expect(cameras.view().along).toBeUndefined();
    fly(robot, cameras, [5, -3, 0]);
    expect(cameras.view().along).toBeUndefined();
    cameras.choose("orbit", "quad");
    expect(cameras.view().along?.robot).toBe("quad");
    cameras.choose("fixed");
    expect(cameras.view().along).toBeUndefined();
  });
});

describe("the first view", () => {
  const half = Math.tan(0.375);
  const direction = new Vector3(-0.55, -0.95, 0.62).normalize();

  /** Where points of the ground are on a screen of the height 2, by an eye that looks as the view says. */
  function onScreen(radius: number, aspect: number): { x: number[]; y: number[]; away: number } {
    const { distance, shift } = fittingView(direction, aspect, radius, 0.1);
    const target = direction.clone().setZ(0).setLength(shift);
    const eye = target.clone().addScaledVector(direction, distance);
    const ahead = direction.clone().negate();
    const right = new Vector3().crossVectors(ahead, new Vector3(0, 0, 1)).normalize();
    const above = new Vector3().crossVectors(right, ahead);
    const places = Array.from({ length: 90 }, (_, k) => {
      const point = new Vector3(radius * Math.cos(k / 14), radius * Math.sin(k / 14), 0).sub(eye);
      return [point.dot(right) / point.dot(ahead), point.dot(above) / point.dot(ahead)];
    });
    return { x: places.map((one) => one[0]! / half), y: places.map((one) => one[1]! / half), away: eye.length() };
  }

  it("holds all of the ground that is worth seeing between the bars, and wastes little", () => {
    for (const radius of [0.4, 3, 70]) {
      const { x, y, away } = onScreen(radius, 16 / 9);
      expect(Math.max(...x.map(Math.abs)) / (16 / 9)).toBeLessThan(0.87);
      expect(Math.max(...x.map(Math.abs)) / (16 / 9)).toBeGreaterThan(0.7);
      expect(Math.max(...y)).toBeLessThan(0.83);
      expect(Math.min(...y)).toBeGreaterThan(-0.75);
      expect(away).toBeLessThan(2.3 * radius);
    }
  });

  it("is farther away where the window is narrow", () => {
    expect(onScreen(3, 0.6).away).toBeGreaterThan(2 * onScreen(3, 1.8).away);
  });

  it("stands where it is put, and goes along from there", () => {
    const { cameras, robot } = eyes(2);
    cameras.stand([3, 1, 2], [0, 0, 0.5]);
    [3, 1, 2].forEach((wanted, k) => expect(cameras.view().eye[k]).toBeCloseTo(wanted, 9));
    fly(robot, cameras, [5, -3, 8]);
    [8, -2, 10].forEach((wanted, k) => expect(cameras.view().eye[k]).toBeCloseTo(wanted, 6));
  });
});
