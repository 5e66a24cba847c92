// Shadows: each picture has those of its moment, however slowly pictures come.
import { PerspectiveCamera, type DirectionalLight, type Object3D } from "three";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Look } from "../src/look";

/** Of each picture: whether its shadows were drawn anew. */
const fresh: boolean[] = [];

vi.mock("three", async (original) => {
  class Renderer {
    // As three.js has it.
    readonly shadowMap = { enabled: false, autoUpdate: true, needsUpdate: false, type: 0 };
    readonly debug = {};
    readonly domElement = { style: {} };
    setPixelRatio(): void {}
    setSize(): void {}
    render(scene: Object3D): void {
      let casts = false;
      scene.traverse((one) => (casts ||= (one as DirectionalLight).isDirectionalLight === true && one.castShadow));
      const { enabled, autoUpdate, needsUpdate } = this.shadowMap;
      fresh.push(casts && enabled && (autoUpdate || needsUpdate));
      this.shadowMap.needsUpdate = false;
    }
  }
  class Generator {
    fromScene = () => ({ texture: null });
    dispose(): void {}
  }
  return { ...(await original<object>()), WebGLRenderer: Renderer, PMREMGenerator: Generator };
});

beforeEach(() => {
  fresh.length = 0;
  vi.stubGlobal("window", { devicePixelRatio: 1 });
});
afterEach(() => void vi.unstubAllGlobals());

it("shadows stay under moving robots in slow pictures too", () => {
  const look = new Look({ appendChild: () => {}, clientWidth: 100, clientHeight: 100 } as unknown as HTMLElement);
  const camera = new PerspectiveCamera();
  for (const ms of [10, 40, 120, 900]) for (let k = 0; k < 30; k++) look.draw(camera, ms);
  expect(look.pixelRatio).toBeLessThan(1); // slow enough to be made coarser
  expect(fresh.length).toBe(120);
  expect(fresh.every(Boolean)).toBe(true);
  look.setShadows(false);
  look.draw(camera, 10);
  expect(look.renderer.shadowMap.autoUpdate).toBe(false); // nor does it cost anything
  look.setShadows(true);
  look.draw(camera, 10);
  expect(fresh.slice(-2)).toEqual([false, true]);
});
