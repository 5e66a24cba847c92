// The bar below the view: a run's controls while it goes, the time line of its recording afterwards.
import { STEP_SECONDS, type Lab } from "./app";
import { failureOf, showFailure } from "./dialogs";
import { button, h, iconButton, setIcon, tipOf, write } from "./dom";
import { clock, fixed, text, type Key } from "./i18n";
import { isOver } from "./state";
import { FACTORS, SPEEDS } from "./timeline";

export class Transport {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly liveRow: HTMLElement;
  private readonly replayRow: HTMLElement;
  private readonly progress = h("progress", { max: "1", tip: "transport.progress" });
  private readonly liveTime = h("span", { class: "times" });
  private readonly factor = h("select", { tip: "transport.speed", class: "speed" });
  private readonly scrub = h("input", {
    type: "range",
    min: "0",
    max: "1",
    step: "any",
    value: "0",
    tip: "timeline.scrub",
    class: "scrub",
  });
  private readonly marks = h("div", { class: "marks", "aria-hidden": "true" });
  private readonly replayTime = h("span", { class: "times" });
  private readonly replayPlay: HTMLButtonElement;
  private readonly replaySpeed = h("select", { tip: "transport.speed", class: "speed" });
  private readonly loop: HTMLButtonElement;
  private readonly why = button("failure.why", () => this.tellFailure(), "failed");
  private readonly liveButtons: HTMLButtonElement[];

  constructor(private readonly lab: Lab) {
    this.play = iconButton("pause", "transport.pause", () => lab.pause(), "P", "icon-button big");
    const reset = iconButton("reset", "transport.reset", () => lab.reset(), "⌫");
    const step = iconButton("step", "transport.step", () => lab.step(1), ".");
    const length = h("select", { tip: "transport.stepLength", class: "speed step-length" });
    lab.store.on(["language", "stepLength"], () =>
      length.replaceChildren(
        ...Object.keys(STEP_SECONDS).map((one) =>
          h("option", { value: one, selected: one === lab.store.now.stepLength }, text(`step.${one}` as Key)),
        ),
      ),
    );
    length.addEventListener("change", () => lab.store.set({ stepLength: length.value }));
    const stop = iconButton("stop", "transport.stop", () => lab.stop());
    const slower = iconButton("slower", "transport.slower", () => lab.faster(-1), "−");
    const faster = iconButton("faster", "transport.faster", () => lab.faster(1), "+");
    this.liveButtons = [this.play, reset, step, stop, slower, faster];
    this.liveRow = h(
      "div",
      { class: "dock-row live-row" },
      h("div", { class: "buttons" }, reset, this.play, step, length, stop),
      h("div", { class: "buttons speeds" }, slower, this.factor, faster),
      h("div", { class: "progress" }, this.progress, this.liveTime),
    );
    this.factor.addEventListener("change", () => lab.setFactor(Number(this.factor.value)));

    this.replayPlay = iconButton("play", "timeline.play", () => lab.pause(), "P", "icon-button big");
    this.loop = iconButton("loop", "timeline.loop", () => this.toggleLoop(), "");
    const reverse = iconButton("back", "timeline.reverse", () => this.reverse());
    this.replayRow = h(
      "div",
      { class: "dock-row replay-row" },
      h("div", { class: "scrub-line" }, this.scrub, this.marks),
      h(
        "div",
        { class: "buttons" },
        reverse,
        iconButton("stepBack", "timeline.stepBack", () => lab.step(-1), ","),
        this.replayPlay,
        iconButton("step", "timeline.step", () => lab.step(1), "."),
        this.loop,
      ),
      this.replaySpeed,
      this.replayTime,
      this.why,
      lab.connection.hasServer && button("timeline.restart", () => lab.restartHere(), "accent", "restart"),
    );
    this.replaySpeed.append(...SPEEDS.map((one) => h("option", { value: one }, speedText(one))));
    this.replaySpeed.addEventListener("change", () => lab.setFactor(Number(this.replaySpeed.value)));
    this.scrub.addEventListener("input", () => {
      const playback = this.lab.replay?.playback;
      if (!playback) return;
      playback.playing = false;
      playback.seek(playback.first + Number(this.scrub.value) * (playback.duration - playback.first));
    });
    this.element = h("footer", { class: "dock", tip: "transport.title" }, this.liveRow, this.replayRow);

    lab.store.on(["mode", "run", "runs", "language", "viewer", "loading"], () => this.drawMode());
    lab.store.on(["details"], () => this.drawMarks());
    lab.store.on(["time"], () => this.tick());
  }

  /** Follows the moment that is shown. */
  tick(): void {
    const { replay, store } = this.lab;
    if (replay) {
      const { playback } = replay;
      const part = playback.part(playback.time);
      if (document.activeElement !== this.scrub || playback.playing) this.scrub.value = String(part);
      this.scrub.style.setProperty("--part", `${100 * part}%`);
      this.scrub.setAttribute("aria-valuetext", clock(playback.time));
      write(this.replayTime, `${clock(playback.time)} / ${clock(playback.duration)}`);
      setIcon(this.replayPlay, playback.playing ? "pause" : "play");
      tipOf(this.replayPlay, playback.playing ? "timeline.pause" : "timeline.play");
      if (document.activeElement !== this.replaySpeed) this.replaySpeed.value = String(playback.speed);
      this.loop.setAttribute("aria-pressed", String(playback.loop));
      return;
    }
    const run = store.currentRun;
    if (!run) return;
    const { time } = store.now;
    if (run.duration) this.progress.value = Math.min(1, time / run.duration);
    else this.progress.removeAttribute("value");
    write(this.liveTime, run.duration ? `${clock(time)} / ${clock(run.duration)}` : clock(time));
  }

  private drawMode(): void {
    const { mode, loading } = this.lab.store.now;
    const run = this.lab.store.currentRun;
    const live = mode === "live" && run !== null && !isOver(run);
    this.element.hidden = mode === "none" || (mode === "live" && !live);
    this.liveRow.hidden = !live;
    this.replayRow.hidden = mode !== "replay";
    if (live) {
      const paused = run.status === "paused";
      setIcon(this.play, paused ? "play" : "pause");
      tipOf(this.play, paused ? "transport.resume" : "transport.pause");
      const may = this.lab.store.isDriver || run.driver === null;
      for (const one of this.liveButtons) one.disabled = !may || loading === "starting";
      this.factor.disabled = !may;
      const choices = [...new Set([...FACTORS, run.factor].filter((one) => one > 0))].sort((a, b) => a - b);
      this.factor.replaceChildren(
        ...choices.map((one) => h("option", { value: one, selected: one === run.factor }, speedText(one))),
        h("option", { value: 0, selected: run.factor === 0 }, text("transport.max")),
      );
    }
    this.tick();
  }

  private tellFailure(): void {
    const failed = failureOf(this.lab.store.now.details?.logs ?? []);
    if (failed) showFailure(...failed);
  }

  private drawMarks(): void {
    const { details } = this.lab.store.now;
    this.why.hidden = !failureOf(details?.logs ?? []);
    const playback = this.lab.replay?.playback;
    const logs = details && playback && details.duration > playback.first ? details.logs.slice(0, 200) : [];
    this.marks.replaceChildren(
      ...logs.map(([time, level, words]) => {
        const mark = h("i", { class: `mark ${level.toLowerCase()}`, title: `${clock(time)} ${words}` });
        mark.style.left = `${100 * playback!.part(time)}%`;
        return mark;
      }),
    );
  }

  private reverse(): void {
    const playback = this.lab.replay?.playback;
    if (!playback) return;
    playback.reverse();
    if (!playback.playing) playback.toggle();
    this.tick();
  }

  private toggleLoop(): void {
    const playback = this.lab.replay?.playback;
    if (playback) playback.loop = !playback.loop;
    this.tick();
  }
}

function speedText(speed: number): string {
  return `${fixed(speed, Math.abs(speed) < 1 ? (Math.abs(speed * 10) % 1 > 1e-9 ? 2 : 1) : 0)}×`;
}
