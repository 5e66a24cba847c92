// The page begins here: the lab's, or one that is a recording and nothing else (embedded.ts).
//
// Addresses: ?scenario=NAME chooses a scenario, with &autostart=1 starts it; ?recording=ID opens a recording;
// ?token=… is the lab's token; ?lang=en|pt-BR the language; ?camera=NAME the first camera; ?name=… what
// others see.
//
// For tests and for the console, `window.botzLab` holds
//   state        what the page shows (LabState of state.ts), live
//   connection   the WebSocket (rttMs, bytesPerSecond, send, get, …)
//   world        the 3D view (stats(), cameras(), setCamera(), screenshot(), …)
//   lab          commands: start, pause, step, setFactor, reset, stop, restartHere, showRecording, ghosts, …
//   pilot        the hands: mapping, command (axes of the moment), latencies ({seq, ms}: from an input event to the
//                frame that shows that the physics took it), halt()
//   send(m)      sends a message as it is
//   lastFrame    of the run that is shown: {step, time, at, acknowledged}, or null
//   value(name)  numbers of a channel: the newest that came of a run, those at the shown moment of a recording
//   wish(names)  asks for channels beside those that the page shows
//   events       what happened, newest last: {at, kind, detail}; kinds: link, start, status, show-run, scene,
//                show-recording, drive, hands-lost, pad-lost, halt, ghost, difference, export, picture, error, failure
//   measure.inputToMotion(channel, component, threshold, code, timeoutMs)
//                presses a key by an event and resolves to the time [ms] until a frame arrives in which the number has
//                changed by more than the threshold; the key is let go afterwards
//   measure.stats()  {fps, frameMs, drawn, bytesPerSecond, rttMs, rate}
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Lab } from "./app";
import { Connection } from "./connection";
import { h } from "./dom";
import { embeddedText, EmbeddedRecording } from "./embedded";
import { fittingLanguage, setLanguage, text, type Language } from "./i18n";
import { Layout } from "./layout";
import type { ClientMessage } from "./protocol";
import { initialState, recall, remember, Store, type Tab } from "./state";
import { Toasts } from "./toasts";
import { WorldView } from "./world";

async function begin(root: HTMLElement, embedded: string | null): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const language = fittingLanguage([
    asked.get("lang"),
    recall<Language | null>("language", null),
    ...navigator.languages,
  ]);
  setLanguage(language);
  document.title = text("page.title");

  const narrow = matchMedia("(max-width: 760px)").matches;
  const store = new Store({
    ...initialState(),
    language,
    tab: narrow ? null : recall<Tab | null>("tab", null),
    gain: recall("gain", 1),
    sticks: matchMedia("(pointer: coarse)").matches,
    library: embedded === null && !asked.has("recording") && !asked.has("autostart"),
    loading: embedded === null ? null : "scene",
  });

  const stage = h("main", { class: "stage", tip: "page.view" });
  root.append(stage);
  const world = newWorld(stage);
  if (world === null) return;

  let file: EmbeddedRecording | null;
  try {
    file = embedded === null ? null : await EmbeddedRecording.read(embedded);
  } catch (error) {
    return sayWhy(stage, error);
  }

  const toasts = new Toasts();
  let layout: Layout | null = null;
  const lab = new Lab(store, file ?? connected(asked), world, {
    say: (tone, words) => toasts.say(tone, words),
    tick: () => layout?.tick(),
  });
  layout = new Layout(lab, root, toasts);
  followCamera(lab, asked.get("camera"));
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (file) void lab.showRecording(file.details.id, { play: !still });
  else followAddress(lab, layout, asked);
  expose(lab, layout);
}

/** The WebSocket beside the page. */
function connected(asked: URLSearchParams): Connection {
  const address = new URL("ws", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = "";
  const name = (asked.get("name") ?? recall("name", "")).slice(0, 64);
  if (asked.has("name")) remember("name", name);
  // The server has answered the token with a cookie. It leaves the address line at once, so that it is not on every
  // screenshot and in the history.
  if (asked.has("token")) {
    asked.delete("token");
    history.replaceState(null, "", `${location.pathname}${asked.size ? `?${asked}` : ""}`);
  }
  return new Connection(address.href, { name });
}

/** The 3D view; where there can be none the page says why. */
function newWorld(stage: HTMLElement): WorldView | null {
  try {
    return new WorldView(stage);
  } catch (error) {
    sayWhy(stage, error);
    return null;
  }
}

function sayWhy(stage: HTMLElement, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  stage.replaceChildren(h("p", { class: "no-view", role: "alert" }, why));
}

function followCamera(lab: Lab, camera: string | null): void {
  if (!camera) return;
  const off = lab.store.on(["scene"], () => {
    if (!lab.store.now.scene || !lab.world.cameras().includes(camera)) return;
    lab.setCamera(camera);
    queueMicrotask(() => off());
  });
}

/** Does what the address asks for, once the server answers. */
function followAddress(lab: Lab, layout: Layout, asked: URLSearchParams): void {
  if (asked.has("recording") || asked.has("autostart")) lab.joins = false;
  const done = lab.connection.on("welcome", () => {
    done();
    const scenario = asked.get("scenario");
    const recording = asked.get("recording");
    if (recording) void lab.showRecording(recording);
    else if (scenario && asked.get("autostart")) lab.start(scenario, {});
    else if (scenario) void layout.library?.choose(scenario);
  });
}

function expose(lab: Lab, layout: Layout): void {
  const measure = {
    inputToMotion(
      channel: string,
      component: number,
      threshold: number,
      code: string,
      timeoutMs = 2000,
    ): Promise<number> {
      return new Promise((resolve, reject) => {
        const before = lab.live?.newest(channel)?.[component];
        if (before === undefined) return reject(new Error(`${channel} is not watched`));
        const key = (type: string) => window.dispatchEvent(new KeyboardEvent(type, { code, bubbles: true }));
        const pressedAt = performance.now();
        const finish = (): void => {
          off();
          clearTimeout(timer);
          key("keyup");
        };
        const off = lab.onArrival((at) => {
          const now = lab.live?.newest(channel)?.[component];
          if (now === undefined || Math.abs(now - before) <= threshold) return;
          finish();
          resolve(at - pressedAt);
        });
        const timer = setTimeout(() => {
          finish();
          reject(new Error("no motion"));
        }, timeoutMs);
        key("keydown");
      });
    },
    stats: () => ({
      ...lab.world.stats(),
      bytesPerSecond: lab.connection.bytesPerSecond,
      rttMs: lab.connection.rttMs,
      rate: lab.live?.rate.rate ?? null,
    }),
  };
  const botzLab = {
    state: lab.store.now,
    connection: lab.connection,
    world: lab.world,
    lab,
    pilot: layout.pilot,
    send: (message: ClientMessage) => lab.connection.send(message),
    get lastFrame() {
      return lab.live?.lastFrame ?? null;
    },
    value: (name: string): number[] | null => {
      if (lab.live) return lab.live.newest(name);
      const values = lab.source?.lookup(name);
      return values ? Array.from(values) : null;
    },
    wish: (names: string[]) => lab.wish("test", names),
    events: lab.events,
    measure,
  };
  (window as unknown as { botzLab: typeof botzLab }).botzLab = botzLab;
}

const root = document.getElementById("root");
if (root) void begin(root, embeddedText());
