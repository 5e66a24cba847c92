// What the page knows and shows, in one place: parts of the page listen to the entries they draw.
import type { ConnectionStatus } from "./connection";
import type { Language } from "./i18n";
import type {
  ChannelInfo,
  RecordingDetails,
  RecordingInfo,
  RunInfo,
  ScenarioInfo,
  SceneDescription,
  ViewerInfo,
} from "./protocol";

export type Mode = "none" | "live" | "replay";
export type Tab = "numbers" | "plots" | "layers" | "cameras" | "hands" | "people" | "compare" | "export";

export interface LogLine {
  run: string;
  level: string;
  text: string;
}

export interface LabState {
  language: Language;
  link: ConnectionStatus;
  rttMs: number | null;
  bytesPerSecond: number;
  viewer: string | null;
  viewers: ViewerInfo[];
  runs: RunInfo[];
  scenarios: ScenarioInfo[];
  recordings: RecordingInfo[];
  /** A run that is going on, a recording after it, or nothing yet. */
  mode: Mode;
  run: string | null;
  recording: string | null;
  details: RecordingDetails | null;
  scene: SceneDescription | null;
  channels: ChannelInfo[];
  /** What is being fetched, for the veil over the view. */
  loading: string | null;
  time: number;
  /** Measured: seconds of the run in a second of the wall clock. */
  realTime: number | null;
  camera: string;
  cameraTarget: string | null;
  /** Those of the scene that are switched on. */
  layers: Set<string>;
  tab: Tab | null;
  library: boolean;
  chosen: string | null;
  robot: string | null;
  handMode: string | null;
  /** Fraction of full speed that a full deflection means. */
  gain: number;
  /** How far the step button goes on: a name of STEP_SECONDS. */
  stepLength: string;
  sticks: boolean;
  gamepad: string | null;
  driving: boolean;
  log: LogLine[];
  ghosts: { id: string; colour: string; scenario: string }[];
}

export type StateKey = keyof LabState;

export class Store {
  private readonly listeners = new Map<StateKey, Set<() => void>>();
  private readonly waiting = new Set<() => void>();

  constructor(readonly now: LabState) {}

  /** Takes changes over; listeners of what really changed are told once, soon. */
  set(changes: Partial<LabState>): void {
    for (const key of Object.keys(changes) as StateKey[]) {
      if (Object.is(this.now[key], changes[key])) continue;
      (this.now as unknown as Record<string, unknown>)[key] = changes[key];
      for (const listener of this.listeners.get(key) ?? []) this.later(listener);
    }
  }

  /** Calls `listener` now and whenever one of the entries changed. */
  on(keys: readonly StateKey[], listener: () => void): () => void {
    for (const key of keys) {
      const known = this.listeners.get(key) ?? new Set();
      this.listeners.set(key, known.add(listener));
    }
    listener();
    return () => {
      for (const key of keys) this.listeners.get(key)?.delete(listener);
      this.waiting.delete(listener);
    };
  }

  private later(listener: () => void): void {
    if (this.waiting.size === 0) queueMicrotask(() => this.tell());
    this.waiting.add(listener);
  }

  private tell(): void {
    const due = [...this.waiting];
    this.waiting.clear();
    for (const listener of due) listener();
  }

  /** The run that is shown, if it is one. */
  get currentRun(): RunInfo | null {
    return this.now.runs.find((run) => run.id === this.now.run) ?? null;
  }

  get isDriver(): boolean {
    const run = this.currentRun;
    return run !== null && run.driver !== null && run.driver === this.now.viewer;
  }
}

export function initialState(): LabState {
  return {
    language: "en",
    link: "connecting",
    rttMs: null,
    bytesPerSecond: 0,
    viewer: null,
    viewers: [],
    runs: [],
    scenarios: [],
    recordings: [],
    mode: "none",
    run: null,
    recording: null,
    details: null,
    scene: null,
    channels: [],
    loading: null,
    time: 0,
    realTime: null,
    camera: "orbit",
    cameraTarget: null,
    layers: new Set(),
    tab: null,
    library: true,
    chosen: null,
    robot: null,
    handMode: null,
    gain: 1,
    stepLength: "image",
    sticks: false,
    gamepad: null,
    driving: false,
    log: [],
    ghosts: [],
  };
}

export function isOver(run: RunInfo): boolean {
  return run.status === "finished" || run.status === "failed" || run.status === "interrupted";
}

// --- what stays in the browser from visit to visit ------------------------------------------------------------

export function recall<T>(key: string, fallback: T): T {
  try {
    const words = localStorage.getItem(`botz.${key}`);
    return words === null ? fallback : (JSON.parse(words) as T);
  } catch {
    return fallback; // storage may be switched off, or hold what an older page wrote
  }
}

export function remember(key: string, value: unknown): void {
  try {
    localStorage.setItem(`botz.${key}`, JSON.stringify(value));
  } catch {
    // The page works without memory, as in a private window.
  }
}
