/** Light, sky, shadows and fog, and how finely all of it is drawn. */

import {
  BackSide,
  Color,
  DirectionalLight,
  Fog,
  HemisphereLight,
  Mesh,
  NeutralToneMapping,
  PCFShadowMap,
  PMREMGenerator,
  Scene,
  ShaderMaterial,
  SphereGeometry,
  Vector3,
  WebGLRenderer,
  type PerspectiveCamera,
  type Texture,
} from "three";
import { text } from "./i18n";

interface Palette {
  zenith: string;
  horizon: string;
  below: string;
  sun: number;
  fill: number;
  ambient: number;
  glow: number;
}

const outdoors: Palette = {
  zenith: "#3f77bd",
  horizon: "#cddcea",
  below: "#b4c0ca",
  sun: 2.9,
  fill: 0.75,
  ambient: 0.55,
  glow: 1,
};
const indoors: Palette = {
  zenith: "#181d25",
  horizon: "#303a47",
  below: "#12161c",
  sun: 2.3,
  fill: 1.6,
  ambient: 0.5,
  glow: 0,
};

/** Where the sun stands, from everything. */
export const sunDirection = new Vector3(-0.3, -0.62, 0.8).normalize();

const skyVertex = `
varying vec3 direction;
void main() {
  direction = position;
  vec4 place = projectionMatrix * vec4(mat3(modelViewMatrix) * position, 1.0);
  gl_Position = place.xyww;
}`;

// Haze near the horizon, deeper blue above; dithered, since bands show in smooth skies.
const skyFragment = `
varying vec3 direction;
uniform vec3 zenith, horizon, below, sun;
uniform float glow;
float noise(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453); }
void main() {
  vec3 d = normalize(direction);
  float up = max(d.z, 0.0);
  vec3 colour = mix(horizon, zenith, 1.0 - exp(-3.2 * up));
  colour = mix(colour, below, 1.0 - exp(-2.0 * max(-d.z, 0.0)));
  float toSun = max(dot(d, sun), 0.0);
  colour += glow * vec3(1.0, 0.93, 0.8) * (0.16 * pow(toSun, 6.0) + 0.35 * pow(toSun, 90.0) + 3.0 * pow(toSun, 2500.0));
  colour += (noise(gl_FragCoord.xy) - 0.5) / 160.0;
  gl_FragColor = vec4(colour, 1.0);
  #include <colorspace_fragment>
}`;

/** The finest and coarsest resolution, as multiples of a CSS pixel. */
const finestRatio = 2;
const coarsestRatio = 0.5;

export class Look {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  private readonly sun = new DirectionalLight("#fff4e2", 2.9);
  private readonly hemisphere = new HemisphereLight("#dcebff", "#8d8271", 0.75);
  private readonly sky: Mesh<SphereGeometry, ShaderMaterial>;
  private readonly fog = new Fog("#cddcea", 10, 100);
  private environment: Texture | null = null;
  private palette: Palette | null = null;
  /** Always the finest resolution, however long a picture takes. */
  private fine = false;
  private extent = 20;
  private ratio = 1;
  private slow = 0;
  private quick = 0;
  private shadowsOn = true;
  private frame = 0;

  constructor(readonly container: HTMLElement) {
    this.renderer = newRenderer();
    const renderer = this.renderer;
    renderer.toneMapping = NeutralToneMapping;
    renderer.toneMappingExposure = 1.08;
    // Asking for errors waits for the compiler.
    renderer.debug.checkShaderErrors = import.meta.env.DEV;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    const canvas = renderer.domElement;
    Object.assign(canvas.style, { display: "block", width: "100%", height: "100%", touchAction: "none" });
    canvas.tabIndex = -1;
    container.appendChild(canvas);
    this.ratio = finest();
    this.sky = new Mesh(
      new SphereGeometry(1, 48, 32),
      new ShaderMaterial({
        vertexShader: skyVertex,
        fragmentShader: skyFragment,
        uniforms: {
          zenith: { value: new Color() },
          horizon: { value: new Color() },
          below: { value: new Color() },
          sun: { value: sunDirection },
          glow: { value: 1 },
        },
        side: BackSide,
        depthWrite: false,
        toneMapped: false,
      }),
    );
    this.sky.frustumCulled = false;
    this.sky.renderOrder = -1;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 2.2;
    this.scene.add(this.sky, this.hemisphere, this.sun, this.sun.target);
    this.setPlace(false, 20);
  }

  /** Under the sky or in a hall; `extent`: half the width of what there is [m]. */
  setPlace(isInside: boolean, extent: number): void {
    this.extent = extent;
    const palette = isInside ? indoors : outdoors;
    const { uniforms } = this.sky.material;
    (uniforms["zenith"]!.value as Color).set(palette.zenith);
    (uniforms["horizon"]!.value as Color).set(palette.horizon);
    (uniforms["below"]!.value as Color).set(palette.below);
    uniforms["glow"]!.value = palette.glow;
    this.fog.color.set(palette.horizon);
    this.scene.fog = isInside ? null : this.fog;
    this.sun.intensity = palette.sun;
    this.hemisphere.intensity = palette.fill;
    this.scene.environmentIntensity = palette.ambient;
    if (palette !== this.palette) this.reflectSky();
    this.palette = palette;
  }

  setShadows(on: boolean): void {
    this.shadowsOn = on;
    this.sun.castShadow = on;
  }

  /** Fits the shadow to what the camera looks at and to all robots, up to `farthest` from there, and the fog to how far
   * away that is. */
  aim(focus: Vector3, camera: PerspectiveCamera, farthest = 0): void {
    const distance = Math.max(camera.position.distanceTo(focus), 0.05);
    this.fog.near = distance + 1.0 * this.extent;
    this.fog.far = 3 * distance + 4 * this.extent;
    const half = Math.max(Math.min(Math.max(1.25 * distance, 0.25), 1.5 * this.extent), farthest);
    const { camera: eye, mapSize } = this.sun.shadow;
    // Sizes in steps, and places in whole texels: else the shadows' edges crawl while the camera moves.
    const size = 2 ** (Math.ceil(2 * Math.log2(half)) / 2);
    const depth = 2 * this.extent + 4 * size;
    if (eye.right !== size || eye.far !== depth) {
      eye.left = eye.bottom = -size;
      eye.right = eye.top = size;
      eye.near = 0;
      eye.far = depth;
      eye.updateProjectionMatrix();
      const texel = (2 * size) / mapSize.x;
      this.sun.shadow.normalBias = 1.6 * texel;
      this.sun.shadow.bias = -0.35 * (texel / depth);
    }
    const texel = (2 * size) / mapSize.x;
    along.crossVectors(up, sunDirection).normalize();
    across.crossVectors(sunDirection, along);
    const [u, v] = [Math.round(focus.dot(along) / texel) * texel, Math.round(focus.dot(across) / texel) * texel];
    const target = this.sun.target.position;
    target.copy(sunDirection).multiplyScalar(focus.dot(sunDirection));
    target.addScaledVector(along, u).addScaledVector(across, v);
    this.sun.position.copy(target).addScaledVector(sunDirection, 0.5 * depth);
  }

  resize(): { width: number; height: number } {
    const width = Math.max(1, this.container.clientWidth);
    const height = Math.max(1, this.container.clientHeight);
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height, false);
    return { width, height };
  }

  /** Draws; `frameMs`: time since the last frame, by which the resolution is chosen. */
  draw(camera: PerspectiveCamera, frameMs: number): void {
    this.frame++;
    this.adapt(frameMs);
    // Anew in every picture, however slowly they come: a shadow stays under its robot.
    this.renderer.shadowMap.autoUpdate = this.shadowsOn;
    this.renderer.render(this.scene, camera);
  }

  /** Gets shaders ready in the background: compiling them all in the first picture would stop the page. */
  async prepare(camera: PerspectiveCamera): Promise<void> {
    if (this.renderer.extensions.has("KHR_parallel_shader_compile")) await this.renderer.compileAsync(this.scene, camera);
  }

  setFine(on: boolean): void {
    this.fine = on;
    if (on) this.setRatio(finest());
  }

  get isFine(): boolean {
    return this.fine;
  }

  get pixelRatio(): number {
    return this.ratio;
  }

  get triangles(): number {
    return this.renderer.info.render.triangles;
  }

  dispose(): void {
    this.environment?.dispose();
    this.sky.geometry.dispose();
    this.sky.material.dispose();
    this.sun.shadow.map?.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }

  /** Coarser after a third of a second of slow frames, finer after some seconds of quick ones. */
  private adapt(frameMs: number): void {
    // Not when the page was hidden, or shaders were being compiled.
    if (this.fine || frameMs > 1500 || this.frame < 5) return;
    this.slow = frameMs > 34 ? this.slow + frameMs : 0;
    this.quick = frameMs < 18 ? this.quick + frameMs : 0;
    if (this.slow > 350) this.setRatio(Math.max(coarsestRatio, 0.75 * this.ratio));
    else if (this.quick > 4000) this.setRatio(Math.min(finest(), 1.2 * this.ratio));
  }

  private setRatio(ratio: number): void {
    this.slow = this.quick = 0;
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    const texels = ratio < 0.75 ? 1024 : 2048;
    if (this.sun.shadow.mapSize.x !== texels) {
      this.sun.shadow.mapSize.set(texels, texels);
      this.sun.shadow.map?.dispose();
      this.sun.shadow.map = null;
      this.sun.shadow.camera.right = 0; // fit anew
    }
    this.resize();
  }

  /** Metal shows what is round it: the sky, once. */
  private reflectSky(): void {
    const room = new Scene();
    const sky = this.sky.clone();
    sky.scale.setScalar(10);
    room.add(sky);
    const generator = new PMREMGenerator(this.renderer);
    this.environment?.dispose();
    this.environment = generator.fromScene(room, 0, 0.1, 100).texture;
    generator.dispose();
    this.scene.environment = this.environment;
  }
}

/** No finer than the screen. */
function finest(): number {
  return Math.min(window.devicePixelRatio || 1, finestRatio);
}

const up = new Vector3(0, 0, 1);
const along = new Vector3();
const across = new Vector3();

function newRenderer(): WebGLRenderer {
  try {
    return new WebGLRenderer({ antialias: true, powerPreference: "high-performance" });
  } catch (error) {
    throw new Error(text("error.webgl"), { cause: error });
  }
}
