// A recording inside the page's own file: what `botz export --html` wrote (src/botz/view/html_replay.py). It answers
// what the page otherwise asks the lab's server for.
import type { LabConnection } from "./connection";
import { text } from "./i18n";
import { sumUp, sumUpGlb } from "./packing";
import { width, type RecordingDetails } from "./protocol";

interface Header {
  details: RecordingDetails;
  /** Bytes of the scene. */
  scene: number;
  /** Bytes of the points that arms reach, by robot. */
  workspaces: Record<string, number>;
  /** Numbers in a row: the time, and all channels in their order. */
  columns: number;
}

/** Where the file has its recording; null in the lab's own page. */
export function embeddedText(): string | null {
  return document.getElementById("recording")?.textContent ?? null;
}

export class EmbeddedRecording implements LabConnection {
  readonly hasServer = false;
  readonly rttMs = NaN;
  readonly bytesPerSecond = 0;
  readonly status = "connected";
  readonly connected = true;
  readonly details: RecordingDetails;
  private readonly scene: Uint8Array<ArrayBuffer>;
  private readonly workspaces = new Map<string, Uint8Array<ArrayBuffer>>();
  private readonly rows: Float32Array;
  private readonly columns: number;

  /** `bytes`: header, scene, workspaces and rows, one after the other. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    let at = 0;
    const next = (length: number): Uint8Array<ArrayBuffer> => bytes.slice(at, (at += length));
    const length = new DataView(next(4).buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(next(length))) as Header;
    this.details = header.details;
    this.scene = next(header.scene);
    sumUpGlb(this.scene);
    for (const [robot, size] of Object.entries(header.workspaces)) this.workspaces.set(robot, next(size));
    this.columns = header.columns;
    const rows = next(bytes.length - at);
    sumUp(rows, header.columns, 4);
    this.rows = new Float32Array(rows.buffer);
  }

  static async read(base64: string): Promise<EmbeddedRecording> {
    if (typeof DecompressionStream === "undefined") throw new Error(text("error.browser"));
    try {
      return new EmbeddedRecording(await inflated(base64));
    } catch (error) {
      throw new Error(text("error.damaged"), { cause: error });
    }
  }

  on(): () => void {
    return () => {}; // nobody sends messages
  }

  onStatus(callback: (status: "connected") => void): () => void {
    callback(this.status);
    return () => {};
  }

  send(): boolean {
    return false;
  }

  post(): Promise<Response> {
    return Promise.reject(new Error(text("error.embedded")));
  }

  delete(): Promise<Response> {
    return this.post();
  }

  /** The addresses of a recording as the lab's server has them; there is one recording only. */
  async get(path: string): Promise<Response> {
    const { pathname, searchParams } = new URL(path, "http://file/");
    switch (/^\/api\/recordings\/[^/]+\/([\w.]+)$/.exec(pathname)?.[1]) {
      case "info":
        return Response.json(this.details);
      case "scene.glb":
        return new Response(this.scene);
      case "workspace":
        return new Response(this.workspaces.get(searchParams.get("robot") ?? "") ?? null);
      case "data":
        return this.data(
          searchParams.get("channels")?.split(",") ?? [],
          Number(searchParams.get("from")),
          Number(searchParams.get("to")),
        );
    }
    throw new Error(text("error.embedded"));
  }

  /** Rows [time, channels…] from one time to another, as many as the file has. */
  private data(names: readonly string[], from: number, to: number): Response {
    const starts = new Map<string, [start: number, width: number]>();
    let start = 1;
    for (const channel of this.details.channels) {
      starts.set(channel[0], [start, width(channel)]);
      start += width(channel);
    }
    const places = names.flatMap((name) => {
      const [first, count] = starts.get(name) ?? [0, 0];
      return Array.from({ length: count }, (_, component) => first + component);
    });
    places.unshift(0);
    const { rows, columns } = this;
    const kept: number[] = [];
    // A time of single precision may lie beside the one that is asked for.
    const near = 1e-6 * Math.max(1, Math.abs(to));
    for (let row = 0; row < rows.length; row += columns)
      if (rows[row]! >= from - near && rows[row]! <= to + near) kept.push(row);
    const table = new Float32Array(kept.length * places.length);
    let at = 0;
    for (const row of kept) for (const place of places) table[at++] = rows[row + place]!;
    return new Response(table, { headers: { "x-botz-columns": String(places.length) } });
  }
}

async function inflated(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
