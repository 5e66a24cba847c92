/** What page and server say to each other: msgpack maps on one WebSocket, `t` tells the kind; and answers of /api. */

/** Name, unit, description, components (empty for a single number). */
export type ChannelInfo = [name: string, unit: string, description: string, components: string[]];

/** A sentence of the lab itself: its code, and its values, which may be sentences again. */
export type Said = [code: string, values: { [name: string]: string | number | Said }];

// --- the scene: Scene.description() of src/botz/scene/world_scene.py -------------------------------------------

/** Position and quat_wxyz. */
export type Place = [number, number, number, number, number, number, number];
export type Vector = [number, number, number];

export type Motion =
  | { kind: "follows"; channel: string }
  | { kind: "turns" | "slides"; channel: string; component: number; axis: Vector; scale: number; offset: number };

export interface NodeInfo {
  name: string;
  parent: string | null;
  place: Place;
  motion?: Motion;
  /** Channel that hides the node, and what hangs on it, while below 0.5. */
  shown_by?: string;
}

export type Hands = "planar" | "omni" | "tank" | "flight" | "plane" | "arm" | "soccer" | "commands" | "none";

export interface ActorInfo {
  name: string;
  node: string;
  size: number;
  hands: Hands;
}

export interface CameraInfo {
  name: string;
  place: Place;
  node: string | null;
  vertical_view: number;
}

export interface ArmInfo {
  kind: "arm";
  robot: string;
  joints: string;
  nodes: string[];
  tool: string;
}
export interface ScoreInfo {
  kind: "score";
  robot: string;
  channel: string;
}
/** Those that the page reads itself; the others are there for layers. */
export type IndicatorInfo =
  | ArmInfo
  | ScoreInfo
  | { kind: "thrust"; robot: string; node: string }
  | { kind: "wheel-contact" | "contact-force" | "velocity" | "icr"; robot: string; node: string };

/** What layers draw: src/botz/scene/marks.py has what each key means. */
export interface SpotInfo {
  node: string | null;
  offset: Vector;
  point: string | null;
  rest_of: string | null;
  on_top: boolean;
}
export type MarkInfo = { shown_by: string | null } & (
  | {
      kind: "Arrow";
      at: SpotInfo;
      channel: string;
      components: Vector;
      axes: "world" | "node" | "ground" | "twist";
      normal: string | null;
      beside: string | null;
    }
  | { kind: "Point"; at: SpotInfo; size: number }
  | { kind: "Line"; at: SpotInfo; to: SpotInfo; size: number }
  | { kind: "Ring"; at: SpotInfo; radius: number }
  | { kind: "Frame"; at: SpotInfo; length: number }
  | { kind: "Text"; at: SpotInfo; text: string; above: number; channel: string | null; component: number; unit: string }
  | { kind: "PageDrawn" }
);

/** Title, and what it is about, by language. */
export type Texts = { en: [string, string] } & { [language: string]: [string, string] | undefined };

export interface SceneLayer {
  name: string;
  texts: Texts;
  on: boolean;
  colour: string;
  /** Of its arrows. */
  unit: string;
  longest: number;
  least: number;
  marks: MarkInfo[];
  /** What the marks follow. */
  channels: string[];
}

/** Ground whose mirror images follow one another: the mesh of `node` with so many lines along x and y. */
export interface RepeatsInfo {
  node: string;
  x: [number, number];
  y: [number, number];
  lines: [number, number];
}

export interface SceneDescription {
  nodes: NodeInfo[];
  channels: string[];
  actors: ActorInfo[];
  cameras: CameraInfo[];
  indicators: IndicatorInfo[];
  layers: SceneLayer[];
  centre: Vector;
  radius: number;
  indoors: boolean;
  repeats?: RepeatsInfo | null;
}

/** Values of a channel by its name; null where there are none. */
export type Lookup = (channel: string) => ArrayLike<number> | null;

// --- runs -----------------------------------------------------------------------------------------------------

export type RunStatus = "starting" | "running" | "paused" | "finished" | "failed" | "interrupted";

export interface RobotInfo {
  name: string;
  hands: Hands;
  modes: string[];
  axes: string[];
  note: string;
  note_said?: Said[];
}

export interface RunInfo {
  id: string;
  scenario: string;
  engine: string;
  status: RunStatus;
  time: number;
  duration: number | null;
  step_ns: number;
  factor: number;
  driver: string | null;
  recording: string | null;
  error: string | null;
  error_said?: Said[] | null;
  /** The traceback of a user's code that failed, or "". */
  error_details?: string;
  channels: ChannelInfo[];
  robots: RobotInfo[];
  set: Record<string, unknown>;
}

export interface ViewerInfo {
  id: string;
  name: string;
}

// --- page to server -------------------------------------------------------------------------------------------

export type ClientMessage =
  | { t: "hello"; token: string | null; name: string }
  | {
      t: "start";
      scenario: string;
      set: Record<string, unknown>;
      factor?: number;
      from?: { recording: string; time: number };
    }
  | { t: "watch"; run: string; channels: string[]; rate: number }
  | { t: "pause"; run: string; on: boolean }
  | { t: "step"; run: string; n: number }
  | { t: "speed"; run: string; factor: number }
  | { t: "reset"; run: string }
  | { t: "stop"; run: string }
  | {
      t: "drive";
      run: string;
      robot: string;
      mode: string;
      axes: Record<string, number>;
      buttons: Record<string, boolean>;
      seq: number;
    }
  | { t: "release"; run: string }
  | { t: "seat"; run: string; action: "take" | "give" | "ask"; to?: string }
  | { t: "solutions"; run?: string; recording?: string; robot: string; joints?: number[] }
  | { t: "ping"; at: number };

// --- server to page -------------------------------------------------------------------------------------------

export interface ServerMessages {
  welcome: { t: "welcome"; viewer: string; version: string; limits: Record<string, number> };
  runs: { t: "runs"; runs: RunInfo[] };
  /** k: number of the subscription; s: step; x: the server's clock [s]; v: float32 of the watched channels in order;
   * a: `seq` of the last drive message that the physics took, or -1. */
  frame: { t: "frame"; run: string; k: number; s: number; x: number; v: Uint8Array; a: number };
  watching: { t: "watching"; run: string; k: number; channels: string[] };
  viewers: { t: "viewers"; viewers: ViewerInfo[] };
  solutions: { t: "solutions"; robot: string; joints: number[][] };
  asked: { t: "asked"; run: string; from: string };
  /** `fields`: what is wrong with the settings of a form, by their keys. */
  error: { t: "error"; text: string; said?: Said[]; about: string | null; fields?: Record<string, string> };
  log: { t: "log"; run: string; level: string; text: string; said?: Said[] };
  pong: { t: "pong"; at: number };
}
export type ServerMessageType = keyof ServerMessages;
export type ServerMessage = ServerMessages[ServerMessageType];

// --- HTTP answers ---------------------------------------------------------------------------------------------

export interface ScenarioInfo {
  name: string;
  engine: string;
  description: string;
  /** Title and description by language; not where it cannot be read. */
  texts?: Texts;
  /** What else it is found by, in both languages. */
  keywords?: string;
  /** Address of its picture, where there is one. */
  picture?: string;
  /** Where it cannot be read. */
  said?: Said[];
}

export interface FormField {
  key: string;
  label: string;
  unit: string;
  kind: "number" | "integer" | "boolean" | "choice" | "text";
  value: number | boolean | string | null;
  minimum: number | null;
  maximum: number | null;
  /** What the value must be greater than. */
  above?: number | null;
  choices: (string | number)[] | null;
  help: string;
  /** How the label ends where that is no word of the schema: a component, or a name of the scenario's. */
  part?: string;
  /** What it belongs to inside its robot. */
  group?: string;
}

export interface ScenarioForm extends ScenarioInfo {
  fields: FormField[];
}

/** What differs from the scenario: key, value there, value here; null where it is not set. */
export type Change = [key: string, there: string | number | boolean | null, here: string | number | boolean | null];

export interface RecordingInfo {
  id: string;
  scenario: string;
  engine: string;
  started: string;
  duration: number;
  status: string;
  /** What its user calls it, or "". */
  name?: string;
  changes?: Change[];
  /** Where it cannot be read. */
  said?: Said[];
}

export interface RecordingDetails {
  id: string;
  scenario: string;
  engine: string;
  duration: number;
  step_ns: number;
  channels: ChannelInfo[];
  rates: Record<string, number>;
  logs: [time: number, level: string, text: string][];
  seed: number;
  /** When the first row was recorded [s]: not 0 where the run began in a state of another one. */
  started_at: number;
}

export type ExportFormat = "mp4" | "webm" | "gif" | "glb";

export interface ExportRequest {
  format: ExportFormat;
  camera:
    | { eye: Vector; target: Vector; vertical_view: number; name?: string; robot?: string }
    | { name: string; robot?: string };
  size: [number, number];
  fps: number;
  from: number;
  to: number;
}

export interface ExportStatus {
  status: "waiting" | "running" | "done" | "failed" | "cancelled";
  progress: number;
  /** Time until it is done [s]; null where it is not known. */
  left?: number | null;
  error: string | null;
  error_said?: Said[] | null;
}

/** Float32 numbers of a frame; copied where its bytes do not lie on a multiple of four. */
export function floats(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteLength - (bytes.byteLength % 4);
  if (bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, whole / 4);
  return new Float32Array(bytes.slice(0, whole).buffer);
}

/** How many numbers a channel holds. */
export function width(channel: ChannelInfo): number {
  return Math.max(1, channel[3].length);
}
