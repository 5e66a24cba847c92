import { BoxGeometry, Matrix4, Mesh, Object3D, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { frameLength, roofOf, velocityAt } from "../src/indicators";
import type { SceneDescription } from "../src/protocol";
import { sceneChannels } from "../src/source";

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

  it("takes planar twists and twists in the world's axes", () => {
    const planar = velocityAt([1, 0, 2], body, new Vector3(9.5, 20, 0)).toArray();
    [0, 0, 0].forEach((wanted, k) => expect(planar[k]).toBeCloseTo(wanted, 12));
    const world = velocityAt([1, 0, 0, 0, 0, 2], body, new Vector3(10, 20.5, 1), false).toArray();
    [0, 0, 0].forEach((wanted, k) => expect(world[k]).toBeCloseTo(wanted, 12));
  });

  it("is watched with the layer", () => {
    const scene = {
      channels: ["r/pose"],
      indicators: [
        { kind: "wheel-contact", robot: "r", node: "r", contact: "c", normal: "n", load: "l", force: "f" },
        { kind: "velocity", robot: "r", node: "r", twist: "r/twist", in_body: true },
      ],
    } as unknown as SceneDescription;
    expect(sceneChannels(scene, new Set(["velocity"])).sort()).toEqual(["c", "l", "r/pose", "r/twist"]);
    expect(sceneChannels(scene, new Set())).toEqual(["r/pose"]);
  });
});

describe("places and sizes of marks", () => {
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

  it("frames of an arm are short beside its reach, a body's stand out of it", () => {
    const [arm, cart] = [{ size: 2, hands: "arm" } as const, { size: 2, hands: "planar" } as const];
    expect(frameLength(arm, true)).toBeLessThan(0.4);
    expect(frameLength(arm, false)).toBeLessThan(frameLength(arm, true));
    expect(frameLength(cart, true)).toBeGreaterThan(1);
    expect(frameLength({ ...cart, size: 0.2 }, true)).toBeCloseTo(0.1 * frameLength(cart, true), 9);
  });
});
