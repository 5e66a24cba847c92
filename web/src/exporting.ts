// Taking things home: a picture of what is seen, the run as a film or as an animated model.
import type { Lab } from "./app";
import type { Sight } from "./cameras";
import { button, clear, download, h, note } from "./dom";
import { clock, fixed, said, text } from "./i18n";
import type { Panel } from "./panels";
import type { ExportFormat, ExportRequest, ExportStatus } from "./protocol";

const SIZES: readonly [number, number][] = [
  [640, 360],
  [1280, 720],
  [1920, 1080],
];
const FORMATS: readonly ExportFormat[] = ["mp4", "webm", "gif", "glb"];
const ASK_EVERY_MS = 400;

interface Choice {
  format: ExportFormat;
  size: [number, number];
  fps: number;
  from: number;
  to: number;
  seen: boolean;
}

/** A file's name from what it shows. */
export function fileName(scenario: string, ending: string, time?: number): string {
  const plain = scenario.replace(/\.ya?ml$/, "").replace(/[^\w.-]+/g, "-") || "botz";
  return time === undefined ? `${plain}.${ending}` : `${plain}-${time.toFixed(2)}s.${ending}`;
}

/** Times that a user typed, put in order and inside the recording. */
export function span(from: number, to: number, duration: number, first = 0): [number, number] {
  const a = Math.max(first, Math.min(duration, Number.isFinite(from) ? from : first));
  const b = Math.max(first, Math.min(duration, Number.isFinite(to) ? to : duration));
  return a < b ? [a, b] : a > b ? [b, a] : [first, duration];
}

/** The camera of a film: as the page sees it now, and moving as it does there, or standing where it is now. */
export function filmCamera(
  seen: Sight,
  camera: { name: string; robot: string | null },
  standing: boolean,
): ExportRequest["camera"] {
  const { eye, target, verticalView, along } = seen;
  const here = { eye, target, vertical_view: verticalView };
  if (standing || camera.name === "fixed") return here;
  if (camera.name === "orbit") {
    const carried = { ...here, ...along, along: along !== undefined };
    return along ? carried : here;
  }
  const named = { name: camera.name, ...(camera.robot ? { robot: camera.robot } : {}) };
  // One that turns after a robot stands where the user has put it.
  return camera.name === "follow" ? { ...named, ...here } : named;
}

/** How far an export is, how much it films, and how long it will take. */
export function progressLine(status: ExportStatus, filmed: number): string {
  if (status.status === "waiting") return text("export.waiting");
  if (!status.progress) return text("export.ready");
  const parts = [`${Math.round(100 * status.progress)} %`, clock(filmed, 1)];
  if (status.left != null) parts.push(text("export.left", { time: clock(Math.ceil(status.left), 0) }));
  return parts.join(" · ");
}

export class ExportPanel implements Panel {
  readonly element = h("div", { class: "export" });
  private readonly jobs = h("div", { class: "jobs" });
  private readonly settings = h("div", {});
  private choice: Choice = { format: "mp4", size: [1280, 720], fps: 30, from: 0, to: 0, seen: true };

  constructor(private readonly lab: Lab) {
    this.element.append(this.settings, this.jobs);
    lab.store.on(["mode", "details", "scene", "language"], () => this.draw());
  }

  async picture(): Promise<void> {
    try {
      const blob = await this.lab.world.screenshot();
      download(blob, fileName(this.scenario, "png", this.lab.source?.time));
      this.lab.note("picture", blob.size);
      this.lab.say("good", "export.pictureDone");
    } catch (error) {
      this.lab.fail(error);
    }
  }

  private get scenario(): string {
    return this.lab.store.now.details?.scenario ?? this.lab.store.currentRun?.scenario ?? "botz";
  }

  private draw(): void {
    const { mode, details, scene } = this.lab.store.now;
    clear(this.settings);
    const shot = button("export.picture", () => void this.picture(), "wide", "image");
    shot.disabled = !scene;
    this.settings.append(shot);
    if (!this.lab.connection.hasServer) return;
    if (mode !== "replay" || !details) return void this.settings.append(note("export.after"));
    this.choice = { ...this.choice, from: details.started_at, to: details.duration };
    this.settings.append(h("h3", { t: "export.film" }), this.form(details.duration));
    this.settings.append(button("export.start", () => void this.start(), "primary wide", "export"));
  }

  private form(duration: number): HTMLElement {
    const { choice } = this;
    const picker = (
      id: string,
      key: "export.format" | "export.size" | "export.fps" | "export.camera",
      values: string[],
      now: string,
      take: (value: string) => void,
      words: (value: string) => string = (value) => value,
    ): HTMLElement => {
      const select = h(
        "select",
        { id },
        ...values.map((one) => h("option", { value: one, selected: one === now }, words(one))),
      );
      select.addEventListener("change", () => take(select.value));
      return h("div", { class: "field" }, h("label", { for: id, t: key }), select);
    };
    const time = (
      id: string,
      key: "export.from" | "export.to",
      now: number,
      take: (value: number) => void,
    ): HTMLElement => {
      const input = h("input", { id, type: "text", inputmode: "decimal", value: fixed(now, 2) });
      input.addEventListener("change", () => take(Number(input.value.replace(",", "."))));
      return h(
        "div",
        { class: "field" },
        h("label", { for: id, t: key }),
        h("span", { class: "entry" }, input, h("span", { class: "unit" }, "s")),
      );
    };
    const film = h(
      "div",
      { class: "form" },
      picker(
        "export-size",
        "export.size",
        SIZES.map((one) => one.join("×")),
        choice.size.join("×"),
        (value) => {
          choice.size = value.split("×").map(Number) as [number, number];
        },
      ),
      picker(
        "export-fps",
        "export.fps",
        ["15", "25", "30", "60"],
        String(choice.fps),
        (value) => (choice.fps = Number(value)),
      ),
      picker(
        "export-camera",
        "export.camera",
        ["seen", "now"],
        choice.seen ? "seen" : "now",
        (value) => (choice.seen = value === "seen"),
        (value) => text(value === "seen" ? "export.cameraMoving" : "export.cameraStill"),
      ),
    );
    const format = picker(
      "export-format",
      "export.format",
      [...FORMATS],
      choice.format,
      (value) => {
        choice.format = value as ExportFormat;
        film.hidden = value === "glb";
      },
      (value) => text(`export.${value as ExportFormat}`),
    );
    film.hidden = choice.format === "glb";
    return h(
      "div",
      { class: "form" },
      format,
      film,
      time("export-from", "export.from", choice.from, (value) => (choice.from = value)),
      time("export-to", "export.to", duration, (value) => (choice.to = value)),
    );
  }

  private request(): ExportRequest {
    const { format, size, fps, seen } = this.choice;
    const { details } = this.lab.store.now;
    const [from, to] = span(this.choice.from, this.choice.to, details?.duration ?? 0, details?.started_at);
    const { world } = this.lab;
    const camera = filmCamera(world.view(), { name: world.camera, robot: world.target }, !seen);
    return { format, camera, size, fps, from, to };
  }

  private async cancel(row: HTMLElement): Promise<void> {
    try {
      await this.lab.connection.delete(`api/exports/${encodeURIComponent(row.dataset.job!)}`);
      this.lab.note("export-cancelled", row.dataset.job);
      row.remove();
    } catch (error) {
      this.lab.fail(error);
    }
  }

  private async start(): Promise<void> {
    const { recording } = this.lab.store.now;
    if (!recording) return;
    const request = this.request();
    const name = fileName(this.scenario, request.format);
    const bar = h("progress", { max: "1", value: "0" });
    const words = h("small", {}, text("export.waiting"));
    const cancel = button("cancel", () => void this.cancel(row), "quiet");
    cancel.hidden = true;
    const row = h("div", { class: "job card", "data-job": "" }, h("b", {}, name), bar, words, cancel);
    this.jobs.prepend(row);
    try {
      const answer = await this.lab.connection.post(`api/recordings/${encodeURIComponent(recording)}/export`, request);
      const { job } = (await answer.json()) as { job: string };
      row.dataset.job = job;
      cancel.hidden = false;
      const path = `api/exports/${encodeURIComponent(job)}`;
      for (;;) {
        const status = (await (await this.lab.connection.get(path)).json()) as ExportStatus;
        bar.value = status.progress;
        words.textContent = progressLine(status, request.to - request.from);
        if (status.status === "cancelled") return void row.remove();
        if (status.status === "failed") {
          throw new Error(said(status.error ?? text("export.failed"), status.error_said));
        }
        if (status.status === "done") break;
        await new Promise((done) => setTimeout(done, ASK_EVERY_MS));
      }
      const blob = await (await this.lab.connection.get(`${path}/file`)).blob();
      bar.remove();
      cancel.remove();
      words.textContent = `${fixed(blob.size / 1e6, 1)} MB`;
      row.append(button("export.save", () => download(blob, name), "accent", "download"));
      row.dataset.done = "yes";
      this.lab.note("export", { name, bytes: blob.size });
      download(blob, name);
    } catch (error) {
      bar.remove();
      cancel.remove();
      row.classList.add("failed");
      words.textContent = error instanceof Error ? error.message : String(error);
      this.lab.fail(error);
    }
  }
}
