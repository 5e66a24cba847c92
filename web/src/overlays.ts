/** Lines, points, words and the grid over the world. */

import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DoubleSide,
  Group,
  Mesh,
  PlaneGeometry,
  Points,
  PointsMaterial,
  ShaderMaterial,
  Sprite,
  SpriteMaterial,
  Vector3,
} from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import { Arrows } from "./arrows";

/** A path that was driven, as a line and as arrows along it. */
export class Trail extends Group {
  private line: LineSegments2 | null = null;
  private capacity = 0;
  private readonly arrows: Arrows;
  private readonly lineMaterial: LineMaterial;

  constructor(
    colour: string,
    private readonly size: number,
  ) {
    super();
    this.lineMaterial = new LineMaterial({ color: colour, linewidth: 2.5, transparent: true, opacity: 0.9, fog: true });
    this.arrows = new Arrows(colour, 400, 0.15);
    this.add(this.arrows);
  }

  /** Points x, y, z one after the other. */
  setLine(points: Float32Array): void {
    const segments = Math.max(0, Math.floor(points.length / 3) - 1);
    if (!this.line || segments > this.capacity) this.grow(Math.max(256, 2 * segments));
    const { geometry } = this.line!;
    const buffer = (geometry.attributes["instanceStart"] as unknown as { data: { array: Float32Array; needsUpdate: boolean } })
      .data;
    for (let i = 0; i < segments; i++) for (let k = 0; k < 6; k++) buffer.array[6 * i + k] = points[3 * i + k]!;
    for (let i = 0; i < 2 * segments; i++) buffer.array[3 * i + 2]! += 0.015 * this.size; // above the ground
    buffer.needsUpdate = true;
    geometry.instanceCount = segments;
    this.line!.visible = segments > 0;
  }

  /** Arrows about as far apart as the robot is large; each points where the path went. */
  setArrows(points: Float32Array): void {
    this.arrows.begin();
    const n = Math.floor(points.length / 3);
    let length = 0;
    for (let i = 1; i < n; i++) length += distance(points, i - 1, i);
    const apart = Math.max(1.2 * this.size, length / this.arrows.capacity);
    let gone = 0;
    let begin = 0;
    for (let i = 1; i < n; i++) {
      gone += distance(points, i - 1, i);
      if (gone < apart) continue;
      start.fromArray(points, 3 * begin);
      vector.fromArray(points, 3 * i).sub(start);
      const straight = vector.length();
      start.z += 0.02 * this.size;
      if (straight > 0.1 * apart) this.arrows.arrow(start, vector.multiplyScalar(0.8), 0.07 * this.size);
      gone = 0;
      begin = i;
    }
    this.arrows.end();
  }

  setShown(line: boolean, arrows: boolean): void {
    if (this.line) this.line.visible = line && this.line.geometry.instanceCount > 0;
    this.lineMaterial.visible = line;
    this.arrows.visible = arrows;
  }

  setResolution(width: number, height: number): void {
    this.lineMaterial.resolution.set(width, height);
  }

  free(): void {
    this.line?.geometry.dispose();
    this.lineMaterial.dispose();
    this.arrows.free();
    this.removeFromParent();
  }

  private grow(capacity: number): void {
    this.line?.geometry.dispose();
    this.line?.removeFromParent();
    this.capacity = capacity;
    const geometry = new LineSegmentsGeometry();
    geometry.setPositions(new Float32Array(6 * capacity));
    this.line = new LineSegments2(geometry, this.lineMaterial);
    this.line.frustumCulled = false;
    this.line.renderOrder = 5;
    this.add(this.line);
  }
}

const start = new Vector3();
const vector = new Vector3();

function distance(points: Float32Array, i: number, j: number): number {
  return Math.hypot(
    points[3 * j]! - points[3 * i]!,
    points[3 * j + 1]! - points[3 * i + 1]!,
    points[3 * j + 2]! - points[3 * i + 2]!,
  );
}

/** Where an arm's tool can be: a cloud, blue near the ground and warm above. */
export function workspaceCloud(points: Float32Array): Points {
  const n = Math.floor(points.length / 3);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(points.slice(0, 3 * n), 3));
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox!;
  const colours = new Float32Array(3 * n);
  const colour = new Color();
  for (let i = 0; i < n; i++) {
    const part = (points[3 * i + 2]! - min.z) / Math.max(max.z - min.z, 1e-9);
    colour.setHSL(0.58 - 0.46 * part, 0.75, 0.55).toArray(colours, 3 * i);
  }
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  const reach = max.distanceTo(min);
  const material = new PointsMaterial({
    size: 0.006 * reach,
    vertexColors: true,
    transparent: true,
    opacity: 0.55,
    depthWrite: false,
    fog: false,
  });
  const cloud = new Points(geometry, material);
  cloud.frustumCulled = false;
  return cloud;
}

/** Words at a place, of one size on the screen. */
export class Label extends Sprite {
  private text: string | null = null;

  constructor() {
    super(new SpriteMaterial({ depthTest: false, sizeAttenuation: false, fog: false, toneMapped: false }));
    this.center.set(0.5, 0);
    this.renderOrder = 30;
  }

  write(text: string): void {
    if (text === this.text) return;
    this.text = text;
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d")!;
    const font = "600 34px system-ui, sans-serif";
    context.font = font;
    const width = Math.ceil(context.measureText(text).width) + 44;
    canvas.width = width;
    canvas.height = 60;
    context.font = font;
    context.fillStyle = "rgba(16, 20, 26, 0.72)";
    context.beginPath();
    context.roundRect(0, 4, width, 52, 26);
    context.fill();
    context.fillStyle = "#eef3f8";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, width / 2, 31);
    this.material.map?.dispose();
    this.material.map = new CanvasTexture(canvas);
    this.material.map.colorSpace = "srgb";
    this.material.needsUpdate = true;
    this.scale.set((0.033 * width) / 60, 0.033, 1);
  }

  free(): void {
    this.material.map?.dispose();
    this.material.dispose();
  }
}

const gridVertex = `
varying vec3 place;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = world.xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

// Lines of one pixel at any distance; every tenth is stronger, the axes have their colours.
const gridFragment = `
varying vec3 place;
uniform vec3 eye;
uniform float cell, reach;
float lines(vec2 p) {
  vec2 width = fwidth(p);
  vec2 away = abs(fract(p - 0.5) - 0.5) / width;
  float line = 1.0 - min(min(away.x, away.y), 1.0);
  return line * (1.0 - smoothstep(0.15, 0.5, max(width.x, width.y)));
}
void main() {
  vec2 p = place.xy / cell;
  float strength = max(0.35 * lines(p), 0.7 * lines(p / 10.0));
  vec3 colour = vec3(0.75, 0.82, 0.9);
  vec2 axis = abs(place.xy) / (fwidth(place.xy) * 0.9);
  if (axis.y < 1.0) { colour = vec3(0.95, 0.3, 0.28); strength = 0.9; }
  if (axis.x < 1.0) { colour = vec3(0.35, 0.8, 0.35); strength = 0.9; }
  strength *= 1.0 - smoothstep(0.4 * reach, reach, distance(place.xy, eye.xy));
  if (strength < 0.01) discard;
  gl_FragColor = vec4(colour, strength);
  #include <colorspace_fragment>
}`;

/** The plane z = 0 in metres (or tenths, in small worlds). */
export class Grid extends Mesh<PlaneGeometry, ShaderMaterial> {
  constructor(radius: number, extent: number) {
    const cell = radius < 1.5 ? 0.1 : 1;
    super(
      new PlaneGeometry(8 * extent, 8 * extent),
      new ShaderMaterial({
        vertexShader: gridVertex,
        fragmentShader: gridFragment,
        uniforms: { eye: { value: new Vector3() }, cell: { value: cell }, reach: { value: 4 * extent } },
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
        polygonOffset: true,
        polygonOffsetFactor: -2,
        polygonOffsetUnits: -4,
      }),
    );
    this.position.z = 0.0005 * radius;
    this.renderOrder = 2;
  }

  see(eye: Vector3): void {
    (this.material.uniforms["eye"]!.value as Vector3).copy(eye);
  }
}
