// The lab without its looks: what is shown, where its numbers come from, and what the user asks of the server.
import { ArmLayers } from "./arm_layers";
import type { ConnectionStatus, LabConnection } from "./connection";
import { said, text, textOr, type Key, type Params } from "./i18n";
import { LiveSource } from "./live";
import type {
  ClientMessage,
  RecordingDetails,
  RecordingInfo,
  RunInfo,
  ScenarioForm,
  ScenarioInfo,
  ServerMessages,
} from "./protocol";
import { ReplaySource } from "./replay";
import { showFailure } from "./dialogs";
import { GhostRuns } from "./ghost_runs";
import { sceneChannels, type Source } from "./source";
import { isOver, recall, remember, type Store } from "./state";
import { nextFactor, RealTimeMeter } from "./timeline";
import { Trails } from "./trails";
import type { WorldView } from "./world";

export type Tone = "info" | "good" | "warning" | "error";

export interface LabEvent {
  /** performance.now() [ms]. */
  at: number;
  kind: string;
  detail: unknown;
}

interface Wish {
  names: readonly string[];
  plotted: readonly string[];
}

export interface LabHooks {
  say: (tone: Tone, words: string) => void;
  /** Ten times a second, after new numbers: tables and plots draw themselves. */
  tick: () => void;
}

const MOST_EVENTS = 2000;

/** What the step button may go on by [s]; 0 is one step of the physics. */
export const STEP_SECONDS: Readonly<Record<string, number>> = { image: 1 / 30, tenth: 0.1, second: 1, physics: 0 };

export class Lab {
  source: Source | null = null;
  /** Whether a run that somebody else has going is shown when there is nothing else to see. */
  joins = true;
  /** What happened, newest last, for tests and for looking things up in the console. */
  readonly events: LabEvent[] = [];
  readonly ghosts: GhostRuns;
  readonly arms: ArmLayers;
  readonly trails: Trails;
  private readonly wishes = new Map<string, Wish>();
  private readonly meter = new RealTimeMeter();
  /** Told which settings of a start were refused, and why. */
  onRefused: (fields: Record<string, string>) => void = () => {};
  private known = new Set<string>();
  private awaiting = false;
  /** Which picture is loaded, so that a run's recording needs no second one. */
  private loaded: string | null = null;
  private turn = 0;
  /** Layers that the user has switched on or off. */
  private readonly layerChoices = recall<Record<string, boolean>>("layerChoices", {});
  private usualRtt: number | null = null;
  private readonly waiters = new Set<(time: number) => void>();

  constructor(
    readonly store: Store,
    readonly connection: LabConnection,
    readonly world: WorldView,
    private readonly hooks: LabHooks,
  ) {
    this.ghosts = new GhostRuns(this);
    this.arms = new ArmLayers(this);
    this.trails = new Trails(this);
    connection.onStatus((status) => this.linkChanged(status));
    connection.on("welcome", (message) => this.welcome(message));
    connection.on("runs", ({ runs }) => this.takeRuns(runs));
    connection.on("viewers", ({ viewers }) => store.set({ viewers }));
    connection.on("watching", (message) => this.live?.run.id === message.run && this.live.watching(message));
    connection.on("frame", (message) => this.takeFrame(message));
    connection.on("error", (message) => this.takeError(message));
    connection.on("log", ({ run, level, text: english, said: sentences }) => {
      const words = said(english, sentences);
      store.set({ log: [...store.now.log.slice(-499), { run, level, text: words }] });
      if (run === store.now.run && /warn|error|critical/i.test(level))
        hooks.say(/warn/i.test(level) ? "warning" : "error", words);
    });
    world.onPick = (name) => this.chooseRobot(name);
    world.onCamera = (camera, cameraTarget) => store.set({ camera, cameraTarget });
    store.on(["scene", "layers"], () => this.refreshWishes());
    world.start(() => this.draw(performance.now()));
    setInterval(() => this.tick(), 100);
  }

  get live(): LiveSource | null {
    return this.source instanceof LiveSource ? this.source : null;
  }

  get replay(): ReplaySource | null {
    return this.source instanceof ReplaySource ? this.source : null;
  }

  say(tone: Tone, key: Key, params?: Params): void {
    this.hooks.say(tone, text(key, params));
  }

  fail(error: unknown): void {
    this.note("failure", String(error));
    this.hooks.say("error", error instanceof Error ? error.message : String(error));
  }

  note(kind: string, detail: unknown): void {
    this.events.push({ at: performance.now(), kind, detail });
    if (this.events.length > MOST_EVENTS) this.events.splice(0, MOST_EVENTS / 4);
  }

  /** Calls back with each new frame's arrival [ms] until the callback is taken out again. */
  onArrival(callback: (at: number) => void): () => void {
    this.waiters.add(callback);
    return () => void this.waiters.delete(callback);
  }

  // --- from the server -----------------------------------------------------------------------------------------

  private linkChanged(status: ConnectionStatus): void {
    const before = this.store.now.link;
    this.store.set({ link: status });
    this.note("link", status);
    if (before === "connected" && status !== "connected") this.say("warning", "toast.lost");
  }

  private welcome(message: ServerMessages["welcome"]): void {
    this.store.set({ viewer: message.viewer });
    this.usualRtt = null;
    void this.refreshLists();
    this.live?.watch();
  }

  async refreshLists(): Promise<void> {
    try {
      const scenarios = (await (await this.connection.get("api/scenarios")).json()) as ScenarioInfo[];
      this.store.set({ scenarios });
      await this.refreshRecordings();
    } catch (error) {
      this.fail(error);
    }
  }

  /** A recording that was deleted is not shown any longer. */
  recordingGone(id: string): void {
    this.ghosts.remove(id);
    if (this.store.now.recording === id) this.store.set({ mode: "none", recording: null, details: null, loading: null });
  }

  async refreshRecordings(): Promise<void> {
    const recordings = (await (await this.connection.get("api/recordings")).json()) as RecordingInfo[];
    this.store.set({ recordings });
  }

  private takeRuns(runs: RunInfo[]): void {
    const { run: shown, viewer, mode } = this.store.now;
    const before = this.store.currentRun;
    this.store.set({ runs });
    const mine = runs.find((run) => !this.known.has(run.id) && run.driver === viewer && !isOver(run));
    this.known = new Set(runs.map((run) => run.id));
    if (this.awaiting && mine) {
      this.awaiting = false;
      return void this.showRun(mine.id);
    }
    if (mode === "none" && shown === null && !this.awaiting && this.joins) {
      const going = runs.filter((run) => !isOver(run)).at(-1);
      if (going) return void this.showRun(going.id);
    }
    const now = this.store.currentRun;
    if (now && before && now.status !== before.status) this.statusChanged(before, now);
    else if (before && !now && mode === "live") this.runGone(before);
  }

  private statusChanged(before: RunInfo, now: RunInfo): void {
    this.note("status", { run: now.id, status: now.status });
    if (before.status === "starting" && !isOver(now)) return void this.showRun(now.id);
    if (now.status === "starting") this.store.set({ loading: "starting" });
    if (!isOver(now)) return;
    const why = said(now.error ?? text("toast.failed"), now.error_said);
    if (now.status === "failed" && now.error_details) showFailure(why, now.error_details);
    else if (now.status === "failed") this.hooks.say("error", why);
    else
      this.say(
        now.status === "finished" ? "good" : "info",
        now.status === "finished" ? "toast.finished" : "toast.stopped",
      );
    void this.afterRun(now);
  }

  private async afterRun(run: RunInfo): Promise<void> {
    try {
      await this.refreshRecordings();
      if (run.recording === null || this.store.now.run !== run.id) return void this.store.set({ loading: null });
      await this.showRecording(run.recording, { at: run.time, picture: `run:${run.id}` });
    } catch (error) {
      this.store.set({ loading: null });
      this.fail(error);
    }
  }

  private runGone(run: RunInfo): void {
    this.say("warning", "toast.gone", { scenario: run.scenario });
    this.store.set({ mode: "none", run: null, loading: null });
  }

  private takeFrame(message: ServerMessages["frame"]): void {
    const live = this.live;
    if (!live || live.run.id !== message.run) return;
    const at = performance.now();
    live.frame(message, at);
    for (const waiter of [...this.waiters]) waiter(at);
  }

  private takeError(message: ServerMessages["error"]): void {
    this.note("error", message);
    if (message.about === "start" || this.awaiting) {
      this.awaiting = false;
      if (this.store.now.mode === "none" || this.store.now.loading === "starting") this.store.set({ loading: null });
    }
    if (message.about === "start" && message.fields) this.onRefused(message.fields);
    this.hooks.say("error", said(message.text, message.said));
  }

  // --- what is shown -------------------------------------------------------------------------------------------

  async showRun(id: string): Promise<void> {
    const turn = (this.turn += 1);
    const run = this.store.now.runs.find((one) => one.id === id);
    if (!run) return;
    this.closeSource();
    const robot = run.robots.find((one) => one.hands !== "none") ?? run.robots[0];
    const again = this.store.now.run === id;
    this.store.set({
      mode: "live",
      run: id,
      recording: null,
      details: null,
      loading: run.status === "starting" ? "starting" : "scene",
      channels: run.channels,
      robot: again && this.store.now.robot ? this.store.now.robot : (robot?.name ?? null),
      handMode: again && this.store.now.handMode ? this.store.now.handMode : (robot?.modes[0] ?? null),
      time: run.time,
      realTime: null,
    });
    this.note("show-run", id);
    if (run.status === "starting") return;
    if (isOver(run)) return void this.afterRun(run);
    try {
      // A run that begins anew looks as it did.
      if (this.loaded !== `run:${id}`)
        await this.loadPicture(`run:${id}`, `api/runs/${encodeURIComponent(id)}/scene.glb`, turn);
      if (turn !== this.turn) return;
      this.meter.clear();
      this.source = new LiveSource(this.connection, run);
      this.store.set({ loading: null, channels: run.channels });
      this.refreshWishes();
    } catch (error) {
      if (turn !== this.turn) return;
      this.store.set({ loading: null });
      this.fail(error);
    }
  }

  async showRecording(id: string, options: { at?: number; picture?: string; play?: boolean } = {}): Promise<void> {
    const turn = (this.turn += 1);
    this.joins = false; // who opened a recording wants to see that one
    const path = `api/recordings/${encodeURIComponent(id)}`;
    try {
      const details = (await (await this.connection.get(`${path}/info`)).json()) as RecordingDetails;
      if (turn !== this.turn) return;
      if (options.picture === undefined || options.picture !== this.loaded) {
        this.store.set({ loading: "scene" });
        await this.loadPicture(`recording:${id}`, `${path}/scene.glb`, turn);
        if (turn !== this.turn) return;
      }
      this.closeSource();
      const source = new ReplaySource(this.connection, details, (error) => this.fail(error));
      source.playback.seek(options.at ?? source.playback.first);
      source.playback.playing = options.play ?? false;
      this.source = source;
      this.store.set({
        mode: "replay",
        recording: id,
        details,
        channels: details.channels,
        loading: null,
        time: source.time,
        realTime: null,
        run: options.picture ? this.store.now.run : null,
      });
      this.note("show-recording", id);
      this.refreshWishes();
    } catch (error) {
      if (turn !== this.turn) return;
      this.store.set({ loading: null });
      this.fail(error);
    }
  }

  private async loadPicture(name: string, path: string, turn: number): Promise<void> {
    const glb = await (await this.connection.get(path)).arrayBuffer();
    if (turn !== this.turn) return;
    const scene = await this.world.load(glb, this.layerChoices);
    if (turn !== this.turn) return;
    this.loaded = name;
    this.store.set({ scene, camera: this.world.camera, layers: this.world.shownLayers });
    this.note("scene", name);
  }

  private closeSource(): void {
    const { live } = this;
    if (live) live.close(this.store.now.runs.some((run) => run.id === live.run.id));
    else this.source?.close();
    this.source = null;
    this.meter.clear();
  }

  /** A part of the page says which channels it shows; an empty wish ends that. */
  wish(who: string, names: readonly string[], plotted: readonly string[] = []): void {
    if (names.length || plotted.length) this.wishes.set(who, { names, plotted });
    else this.wishes.delete(who);
    this.refreshWishes();
  }

  private refreshWishes(): void {
    const { scene, layers } = this.store.now;
    if (!this.source || !scene) return;
    const all = [...this.wishes.values()];
    const names = [...sceneChannels(scene, layers), ...all.flatMap((one) => one.names)];
    this.source.need(names, [...new Set(all.flatMap((one) => one.plotted))]);
  }

  private draw(now: number): void {
    const { source } = this;
    if (!source || !source.sample(now) || this.store.now.scene === null) return;
    this.world.show(source.lookup, source.time);
    this.ghosts.show(source.time);
  }

  private tick(): void {
    const now = performance.now();
    const { source, connection, store } = this;
    const rtt = Number.isNaN(connection.rttMs) ? null : connection.rttMs;
    if (rtt !== null) this.usualRtt = Math.min(this.usualRtt ?? rtt, rtt);
    store.set({ rttMs: rtt, bytesPerSecond: connection.bytesPerSecond });
    if (source) store.set({ time: this.live?.lastFrame?.time ?? source.time });
    const live = this.live;
    if (live) {
      const run = store.currentRun;
      if (run?.status === "running") {
        store.set({ realTime: live.lastFrame ? this.meter.note(live.lastFrame.time, live.lastFrame.at) : null });
        if (document.visibilityState === "visible" && live.rate.judge(now, rtt, this.usualRtt)) live.watch();
      } else {
        live.rate.rest();
        this.meter.clear();
      }
    }
    this.arms.tick(now);
    this.trails.tick();
    this.hooks.tick();
  }

  // --- what the user asks for ----------------------------------------------------------------------------------

  async form(scenario: string, terrain?: string): Promise<ScenarioForm> {
    const ground = terrain === undefined ? "" : `&terrain=${encodeURIComponent(terrain)}`;
    const answer = await this.connection.get(`api/form?scenario=${encodeURIComponent(scenario)}${ground}`);
    return (await answer.json()) as ScenarioForm;
  }

  /** Without `factor` the run goes at the scenario's own speed. */
  start(
    scenario: string,
    set: Record<string, unknown>,
    factor?: number,
    from?: { recording: string; time: number },
  ): void {
    this.closeSource();
    this.turn += 1;
    this.awaiting = true;
    this.ghosts.clear();
    this.trails.clear();
    this.store.set({ loading: "starting", mode: "none", run: null, recording: null, log: [] });
    this.note("start", { scenario, set, factor, from });
    const asked = { t: "start", scenario, set, ...(factor === undefined ? {} : { factor }), ...(from ? { from } : {}) };
    const sent = this.connection.send(asked as ClientMessage);
    if (sent) return;
    this.awaiting = false;
    this.store.set({ loading: null });
    this.say("error", "toast.notConnected");
  }

  /** Starts again from the moment of the recording that is shown. */
  restartHere(): void {
    const { details, recording } = this.store.now;
    if (!this.replay || !details || !recording) return;
    // The recording brings its settings along.
    this.start(details.scenario, {}, undefined, { recording, time: this.replay.time });
  }

  /** Sends a command of the driver; a seat that is free is taken first. */
  command(message: ClientMessage & { run: string }): boolean {
    const run = this.store.currentRun;
    if (!run || isOver(run)) return false;
    if (run.driver === null) this.connection.send({ t: "seat", run: run.id, action: "take" });
    else if (!this.store.isDriver) {
      this.say("info", "toast.watching");
      return false;
    }
    return this.connection.send(message);
  }

  pause(): void {
    if (this.replay) return this.replay.playback.toggle();
    const run = this.store.currentRun;
    if (run) this.command({ t: "pause", run: run.id, on: run.status !== "paused" });
  }

  step(by: number): void {
    if (this.replay) return this.replay.playback.stepFrames(by);
    const run = this.store.currentRun;
    if (!run || by < 0) return;
    if (run.status !== "paused") this.command({ t: "pause", run: run.id, on: true });
    const seconds = STEP_SECONDS[this.store.now.stepLength] ?? 0;
    this.command({ t: "step", run: run.id, n: Math.max(1, Math.round((by * seconds * 1e9) / run.step_ns)) });
  }

  faster(by: 1 | -1): void {
    if (this.replay) return this.replay.playback.changeSpeed(by);
    const run = this.store.currentRun;
    if (run) this.setFactor(nextFactor(run.factor, by));
  }

  setFactor(factor: number): void {
    if (this.replay) {
      this.replay.playback.speed = factor;
      return;
    }
    const run = this.store.currentRun;
    if (run) this.command({ t: "speed", run: run.id, factor });
  }

  reset(): void {
    if (this.replay) return this.replay.playback.seek(this.replay.playback.first);
    const run = this.store.currentRun;
    if (!run) return;
    if (!this.command({ t: "reset", run: run.id })) return;
    this.live?.restart();
    this.trails.clear();
  }

  stop(): void {
    const run = this.store.currentRun;
    if (run) this.command({ t: "stop", run: run.id });
  }

  /** The robot that is driven from now on; cameras look at it. */
  chooseRobot(name: string): void {
    const robot = this.store.currentRun?.robots.find((one) => one.name === name);
    if (!robot || robot.hands === "none") return;
    this.store.set({ robot: name, handMode: robot.modes[0] ?? null });
    if (this.world.camera !== "orbit") this.setCamera(this.world.camera, name);
  }

  setLayer(name: string, on: boolean): void {
    this.layerChoices[name] = on;
    remember("layerChoices", this.layerChoices);
    this.world.setLayer(name, on);
    this.store.set({ layers: this.world.shownLayers });
  }

  setCamera(name: string, target?: string): void {
    this.world.setCamera(name, target);
    this.store.set({ camera: this.world.camera });
  }

  nextCamera(by: 1 | -1): void {
    const names = this.world.cameras();
    if (!names.length) return;
    const at = names.indexOf(this.world.camera);
    this.setCamera(names[(at + by + names.length) % names.length]!);
    this.say("info", "toast.camera", { name: textOr(`camera.${this.world.camera}`, this.world.camera) });
  }
}
