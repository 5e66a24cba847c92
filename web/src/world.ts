/** The 3D view: loads a scene, shows it by the values of channels, and draws layers, ghosts and trails over it. */

import { Box3, Group, Points, PointsMaterial, Raycaster, Sphere, Vector2, Vector3 } from "three";
import { Cameras } from "./cameras";
import { EndlessGround, surfaceOf } from "./endless";
import { Ghost, Postures } from "./ghosts";
import { text } from "./i18n";
import { Legend } from "./legend";
import { Look } from "./look";
import { LayerMarks, markSize, type LegendEntry } from "./marks";
import { Rig } from "./motions";
import { Grid, Trail, workspaceCloud } from "./overlays";
import { fadePlates } from "./plates";
import { Propellers } from "./propellers";
import type { Lookup, SceneDescription, Vector } from "./protocol";
import { freeTree, readScene, sharpenTextures, type LoadedScene } from "./scene_file";

export interface View {
  eye: Vector;
  target: Vector;
  verticalView: number;
}

export interface Stats {
  /** Pictures a second, over the last second or so. */
  fps: number;
  /** Time from one picture to the next [ms], smoothed. */
  frameMs: number;
  /** Pictures since the page was opened. */
  drawn: number;
  /** Work of the page itself for a picture [ms], without the graphics card. */
  workMs: number;
  triangles: number;
  pixelRatio: number;
}

const trailColour = "#ffb454";
const nothing: Lookup = () => null;

export class WorldView {
  description: SceneDescription | null = null;
  /** Called when another camera or another target has been chosen. */
  onCamera: ((name: string, target: string | null) => void) | null = null;

  /** Called with the robot that was clicked at. */
  onPick: ((name: string) => void) | null = null;

  private readonly look: Look;
  private readonly eyes: Cameras;
  private readonly legendBox: Legend;
  private readonly on = new Set<string>();
  private loaded: LoadedScene | null = null;
  private rig: Rig | null = null;
  private marks: LayerMarks | null = null;
  private propellers: Propellers | null = null;
  private grid: Grid | null = null;
  private endless: EndlessGround | null = null;
  /** Whether the user chose the camera: then it stays from scene to scene. */
  private ownCamera = false;
  private readonly trails = new Map<string, Trail>();
  private readonly ghosts = new Map<string, Ghost>();
  private readonly postures = new Map<string, Postures>();
  private readonly clouds = new Map<string, Points>();
  private readonly over = new Group();
  private readonly resizing: ResizeObserver;
  private lookup: Lookup = nothing;
  private time = 0;
  private loads = 0;
  private drawn = 0;
  private frameMs = 16.7;
  private workMs = 0;
  private lastFrame = NaN;
  private emptyDrawn = 0;
  private request = 0;
  private readonly focus = new Vector3();

  constructor(readonly container: HTMLElement) {
    this.look = new Look(container);
    this.eyes = new Cameras(this.look.renderer.domElement);
    this.legendBox = new Legend(container);
    this.listenForClicks(this.look.renderer.domElement);
    this.look.scene.add(this.over);
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(container);
    this.resize();
  }

  // --- the scene ----------------------------------------------------------------------------------------------

  /** Puts a scene in the place of the last one; the kind of camera stays. `choices`: layers switched on or off. */
  async load(glb: ArrayBuffer, choices: Record<string, boolean> = {}): Promise<SceneDescription> {
    const number = ++this.loads;
    const loaded = await readScene(glb);
    if (number !== this.loads) {
      // Another one was asked for meanwhile.
      freeTree(loaded.root);
      return loaded.description;
    }
    const camera = this.camera;
    this.clear();
    const { root, objects, description } = loaded;
    this.loaded = loaded;
    this.description = description;
    sharpenTextures(root, Math.min(8, this.look.renderer.capabilities.getMaxAnisotropy()));
    this.look.scene.add(root);
    root.updateMatrixWorld(true);
    fadePlates(root, description);
    const extent = extentOf(loaded);
    this.look.setPlace(description.indoors, extent);
    this.rig = new Rig(objects, description.nodes);
    this.marks = new LayerMarks(description, objects);
    this.propellers = new Propellers(description, objects);
    this.grid = new Grid(description.radius, extent);
    this.repeatGround(loaded);
    this.over.add(this.marks, this.grid);
    for (const one of description.indicators)
      if (one.kind === "arm") this.postures.set(one.robot, new Postures(one, objects, description.nodes));
    for (const layer of description.layers) this.setLayer(layer.name, choices[layer.name] ?? layer.on);
    this.eyes.enter(description, objects, extent);
    if (this.ownCamera) this.eyes.choose(camera);
    this.onCamera?.(this.eyes.name, this.eyes.target);
    await this.look.prepare(this.eyes.camera);
    return description;
  }

  /** Places everything by the channels' values at `time` [s] of the run. */
  show(lookup: Lookup, time: number): void {
    this.lookup = lookup;
    if (!this.rig || !this.loaded) return;
    this.rig.apply(lookup);
    this.propellers?.update(lookup, time);
    this.time = time;
    for (const postures of this.postures.values()) postures.update(lookup);
    this.loaded.root.updateMatrixWorld();
    this.marks?.update(lookup, performance.now() / 1000);
  }

  // --- ghosts, postures, reach, trails ------------------------------------------------------------------------

  async addGhost(id: string, glb: ArrayBuffer, colour: string): Promise<void> {
    const ghost = await Ghost.read(glb, colour);
    this.removeGhost(id);
    this.ghosts.set(id, ghost);
    this.look.scene.add(ghost);
  }

  showGhost(id: string, lookup: Lookup, _time: number): void {
    this.ghosts.get(id)?.show(lookup);
  }

  removeGhost(id: string): void {
    this.ghosts.get(id)?.free();
    this.ghosts.delete(id);
  }

  setPostures(robot: string, joints: number[][]): void {
    this.postures.get(robot)?.set(joints);
  }

  setWorkspace(robot: string, points: Float32Array | null): void {
    const old = this.clouds.get(robot);
    if (old) freePoints(old);
    this.clouds.delete(robot);
    if (!points || points.length < 3) return;
    const cloud = workspaceCloud(points);
    cloud.visible = this.on.has("workspace");
    this.clouds.set(robot, cloud);
    this.over.add(cloud);
  }

  /** Points x, y, z of a path. Several paths can be shown at once by their `id`, in colours of their own. */
  setTrail(points: Float32Array, kind: "line" | "arrows", id = "", colour = trailColour): void {
    let trail = this.trails.get(id);
    if (!trail) {
      trail = new Trail(colour, this.description ? markSize(this.description) : 0.3);
      this.trails.set(id, trail);
      this.over.add(trail);
      this.resize();
    }
    if (kind === "line") trail.setLine(points);
    else trail.setArrows(points);
    trail.setShown(this.on.has("trail"), this.on.has("trail-arrows"));
  }

  removeTrail(id = ""): void {
    this.trails.get(id)?.free();
    this.trails.delete(id);
  }

  // --- layers -------------------------------------------------------------------------------------------------

  /** Names of the layers that this scene has something for. */
  get layers(): string[] {
    return this.description?.layers.map((layer) => layer.name) ?? [];
  }

  /** Those of them that are switched on. */
  get shownLayers(): Set<string> {
    return new Set(this.layers.filter((name) => this.on.has(name)));
  }

  setLayer(name: string, on: boolean): void {
    if (on) this.on.add(name);
    else this.on.delete(name);
    this.applyLayer(name);
    this.show(this.lookup, this.time);
  }

  /** How many arrows, points, lines, rings, frames and texts of a layer are drawn at the moment. */
  drawnMarks(name: string): number {
    return this.marks?.drawn(name) ?? 0;
  }

  legend(): LegendEntry[] {
    return this.marks?.legend() ?? [];
  }

  private applyLayer(name: string): void {
    const on = this.on.has(name);
    this.marks?.setLayer(name, on);
    if (name === "shadows") this.look.setShadows(on);
    if (name === "grid" && this.grid) this.grid.visible = on;
    if (name === "workspace") for (const cloud of this.clouds.values()) cloud.visible = on;
    if (name === "solutions") for (const one of this.postures.values()) one.visible = on;
    if (name === "trail" || name === "trail-arrows")
      for (const trail of this.trails.values()) trail.setShown(this.on.has("trail"), this.on.has("trail-arrows"));
  }

  // --- cameras ------------------------------------------------------------------------------------------------

  get camera(): string {
    return this.eyes.name;
  }

  /** Name of the actor that cameras look at. */
  get target(): string | null {
    return this.eyes.target;
  }

  setCamera(name: string, target?: string): void {
    this.ownCamera = true;
    this.eyes.choose(name, target);
    this.onCamera?.(this.eyes.name, this.eyes.target);
  }

  cameras(): string[] {
    return this.eyes.names();
  }

  targets(): string[] {
    return this.description?.actors.map((actor) => actor.name) ?? [];
  }

  view(): View {
    return this.eyes.view();
  }

  /** Puts a free eye somewhere: what `view` says, the other way round. */
  lookFrom(eye: Vector, target: Vector): void {
    this.setCamera("orbit");
    this.eyes.stand(eye, target);
  }

  /** A press that is let go where it was, and soon, is a click and no turn of the camera. */
  private listenForClicks(canvas: HTMLElement): void {
    let pressed: PointerEvent | null = null;
    canvas.addEventListener("pointerdown", (event) => (pressed = event));
    canvas.addEventListener("pointerup", (event) => {
      const began = pressed;
      pressed = null;
      if (!began || began.pointerId !== event.pointerId || event.timeStamp - began.timeStamp > 500) return;
      if (Math.hypot(event.clientX - began.clientX, event.clientY - began.clientY) > 6) return;
      const box = canvas.getBoundingClientRect();
      const name = this.robotAt((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
      if (name !== null) this.onPick?.(name);
    });
  }

  /** The robot at a place of the view, as fractions from its upper left corner. */
  robotAt(x: number, y: number): string | null {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(2 * x - 1, 1 - 2 * y), this.eyes.camera);
    let found: { name: string; distance: number } | null = null;
    for (const actor of this.description?.actors ?? []) {
      const object = this.loaded?.objects.get(actor.node);
      const hit = object && ray.intersectObject(object, true)[0];
      if (hit && (found === null || hit.distance < found.distance)) found = { name: actor.name, distance: hit.distance };
    }
    return found?.name ?? null;
  }

  // --- pictures -----------------------------------------------------------------------------------------------

  /** Calls `onFrame` before each picture, with the page's clock [s], until disposed. */
  start(onFrame: (now: number) => void): void {
    cancelAnimationFrame(this.request);
    const frame = (now: number) => {
      this.request = requestAnimationFrame(frame);
      onFrame(now / 1000);
      this.draw(now);
    };
    this.request = requestAnimationFrame(frame);
  }

  /** What is seen, as PNG, in the full resolution of the screen. */
  screenshot(): Promise<Blob> {
    const fine = this.look.isFine;
    this.look.setFine(true);
    this.render(0);
    this.look.setFine(fine);
    const canvas = this.look.renderer.domElement;
    return new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(text("error.picture")))), "image/png"),
    );
  }

  /** Always in the finest resolution, however slow: for pictures rather than for driving. */
  setFine(on: boolean): void {
    this.look.setFine(on);
  }

  stats(): Stats {
    return {
      fps: 1000 / this.frameMs,
      frameMs: this.frameMs,
      drawn: this.drawn,
      workMs: this.workMs,
      triangles: this.look.triangles,
      pixelRatio: this.look.pixelRatio,
    };
  }

  dispose(): void {
    cancelAnimationFrame(this.request);
    this.resizing.disconnect();
    this.clear();
    for (const id of [...this.ghosts.keys()]) this.removeGhost(id);
    this.eyes.dispose();
    this.legendBox.remove();
    this.look.dispose();
  }

  private draw(now: number): void {
    const began = performance.now();
    const since = Number.isNaN(this.lastFrame) ? 16.7 : now - this.lastFrame;
    this.lastFrame = now;
    if (since < 2000) this.frameMs += 0.1 * (since - this.frameMs);
    // An empty sky need not be drawn again and again; slow machines have better things to do while they load.
    if (this.description === null && this.drawn > 0 && now - this.emptyDrawn < 1000) return;
    this.emptyDrawn = now;
    this.eyes.update(Math.min(since, 250) / 1000);
    this.render(since);
    this.legendBox.show(this.legend());
    this.drawn++;
    this.workMs += 0.1 * (performance.now() - began - this.workMs);
  }

  private render(since: number): void {
    const focus = this.eyes.focus(this.focus);
    this.look.aim(focus, this.eyes.camera, this.eyes.farthest(focus));
    this.endless?.follow(focus);
    this.grid?.see(this.eyes.camera.position);
    this.look.draw(this.eyes.camera, since);
  }

  private resize(): void {
    const { width, height } = this.look.resize();
    this.eyes.resize(width, height);
    for (const trail of this.trails.values()) trail.setResolution(width, height);
  }

  /** Mirror images of the ground take the place of what is around it. */
  private repeatGround({ objects, description, root }: LoadedScene): void {
    const { repeats } = description;
    const node = repeats && objects.get(repeats.node);
    const surface = repeats && node ? surfaceOf(node, repeats) : null;
    if (!repeats || !node || !surface) return;
    this.endless = new EndlessGround(repeats, surface);
    node.visible = false;
    root.add(this.endless);
  }

  private clear(): void {
    for (const robot of [...this.clouds.keys()]) this.setWorkspace(robot, null);
    for (const id of [...this.trails.keys()]) this.removeTrail(id);
    for (const one of this.postures.values()) one.clear();
    this.postures.clear();
    this.marks?.free();
    this.propellers?.free();
    if (this.grid) freeTree(this.grid);
    this.endless?.free();
    this.endless = null;
    if (this.loaded) freeTree(this.loaded.root);
    this.loaded = this.rig = this.marks = this.propellers = this.grid = null;
    this.description = null;
    this.lookup = nothing;
  }
}

/** Half the width of all there is, at least of what is worth seeing. */
function extentOf(loaded: LoadedScene): number {
  const sphere = new Box3().setFromObject(loaded.root).getBoundingSphere(new Sphere());
  return Math.max(sphere.isEmpty() ? 0 : sphere.radius / Math.SQRT2, 2 * loaded.description.radius, 0.5);
}

function freePoints(cloud: Points): void {
  cloud.geometry.dispose();
  (cloud.material as PointsMaterial).dispose();
  cloud.removeFromParent();
}
