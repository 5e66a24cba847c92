// The bar on top: what is shown, how it goes, and how good the line is.
import type { Lab } from "./app";
import { h, iconButton, say, tipOf, write } from "./dom";
import { clock, fixed, LANGUAGES, number, text, textOr, type Language } from "./i18n";
import { isOver } from "./state";

export interface TopBarEvents {
  library: (() => void) | null;
  help: () => void;
  language: (name: Language) => void;
  seat: () => void;
}

export function topBar(lab: Lab, events: TopBarEvents): HTMLElement {
  const { store } = lab;
  const title = h("span", { class: "title" });
  const engine = h("span", { class: "engine" });
  const status = h("span", { class: "status" });
  const time = h("span", { class: "clock", tip: "top.time" });
  const pace = h("span", { class: "pace", tip: "top.pace" });
  const seat = h("button", { type: "button", class: "seat-chip", tip: "top.seat", on: { click: events.seat } });
  const link = h("span", { class: "link", tip: "top.link", role: "status" }, h("i", {}), h("span", {}));
  const language = h(
    "select",
    { class: "language", tip: "top.language" },
    ...LANGUAGES.map((name) => h("option", { value: name }, name === "en" ? "EN" : "PT")),
  );
  language.addEventListener("change", () => events.language(language.value as Language));

  store.on(["run", "runs", "mode", "details", "recording", "recordings", "language", "viewer"], () => {
    const { details, mode, language: chosen, recording, recordings } = store.now;
    const run = store.currentRun;
    const called = recordings.find((one) => one.id === recording)?.name;
    const name = mode === "replay" ? called || details?.scenario : run?.scenario;
    write(title, name ?? text("top.nothing"));
    title.title = mode === "replay" ? (store.now.recording ?? "") : "";
    write(
      engine,
      mode === "none" ? "" : textOr(`engine.${run?.engine ?? details?.engine}`, run?.engine ?? details?.engine ?? ""),
    );
    const state = mode === "replay" ? "replay" : (run?.status ?? "none");
    status.dataset.state = state;
    write(status, mode === "none" ? "" : textOr(`status.${state}`, state));
    language.value = chosen;
    const going = mode === "live" && run !== null && !isOver(run);
    seat.hidden = !going;
    // Who has the seat of a run that nobody could drive still pauses and stops it.
    const drivable = run?.robots.some((one) => one.hands !== "none") ?? false;
    say(seat, !going || store.isDriver ? (drivable ? "seat.mine" : "seat.control") : run.driver === null ? "seat.free" : "seat.other");
    seat.dataset.state = store.isDriver ? "mine" : run?.driver === null ? "free" : "other";
  });
  store.on(["time", "realTime", "mode", "language", "runs"], () => {
    const { mode, time: now, realTime } = store.now;
    write(time, mode === "none" ? "" : clock(now));
    const run = store.currentRun;
    const paused = run?.status === "paused";
    write(pace, mode !== "live" || paused || realTime === null ? "" : `${fixed(realTime, realTime < 10 ? 2 : 0)}×`);
    const asked = run?.factor ?? 1;
    pace.classList.toggle("late", realTime !== null && asked > 0 && realTime < 0.9 * asked);
  });
  store.on(["link", "rttMs", "bytesPerSecond", "language"], () => {
    const { link: state, rttMs, bytesPerSecond } = store.now;
    link.dataset.state = state;
    const words =
      state === "connected" && rttMs !== null
        ? `${fixed(rttMs, rttMs < 10 ? 1 : 0)} ms`
        : textOr(`link.${state}`, state);
    write(link.lastElementChild!, words);
    tipOf(link, "top.link");
    link.title = `${textOr(`link.${state}`, state)} · ${number(bytesPerSecond / 1000, 3)} kB/s`;
  });

  return h(
    "header",
    { class: "topbar" },
    events.library && iconButton("library", "top.library", events.library, "L"),
    h("span", { class: "brand", "aria-hidden": "true" }, "botz"),
    h("div", { class: "subject" }, title, engine, status),
    h("div", { class: "clocks" }, time, pace),
    h("div", { class: "topbar-right" }, seat, lab.connection.hasServer && link, language, iconButton("help", "top.help", events.help, "?")),
  );
}
