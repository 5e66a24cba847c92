/** One WebSocket to the lab's server, opened anew when it breaks, and requests to its /api. */

import { decode, encode } from "@msgpack/msgpack";
import { said, text } from "./i18n";
import type { ClientMessage, Said, ServerMessage, ServerMessages, ServerMessageType } from "./protocol";

/** `refused`: the server does not take this page (wrong token, too many); it is asked again, but slowly. */
export type ConnectionStatus = "connecting" | "connected" | "lost" | "refused" | "closed";

const pingEveryMs = 1000;
/** Longest silence before a connection counts as broken: a phone that changes its network gets no word of it. */
const silenceMs = 6000;
const firstDelayMs = 250;
const longestDelayMs = 5000;
/** Close codes by which the server says that trying again at once is of no use. */
const refusals = new Set([1008, 1013, 4001, 4003, 4401, 4403]);

export interface ConnectionOptions {
  name?: string;
  /** For tests: stands in for the browser's WebSocket. */
  socket?: new (url: string) => WebSocket;
}

/** What the page uses of a connection: a recording in a file of its own answers the same (embedded.ts). */
export type LabConnection = Pick<
  Connection,
  | "hasServer"
  | "rttMs"
  | "bytesPerSecond"
  | "status"
  | "connected"
  | "on"
  | "onStatus"
  | "send"
  | "get"
  | "post"
  | "delete"
>;

type Callback<T extends ServerMessageType> = (message: ServerMessages[T]) => void;

export class Connection {
  /** Whether there is a lab to run, record and compare with. */
  readonly hasServer: boolean = true;
  /** Time of an answer, there and back [ms], smoothed; NaN before the first. */
  rttMs = NaN;
  /** Received, averaged over the last second. */
  bytesPerSecond = 0;
  status: ConnectionStatus = "connecting";
  /** The id that the server gave this page. */
  viewer: string | null = null;

  private socket: WebSocket | null = null;
  private readonly callbacks = new Map<string, Set<(message: never) => void>>();
  private readonly statusCallbacks = new Set<(status: ConnectionStatus) => void>();
  private delayMs = firstDelayMs;
  private lastTick = performance.now();
  private lastHeard = 0;
  private bytes = 0;
  private bytesSince = 0;
  private timer: ReturnType<typeof setInterval> | null = null;
  private again: ReturnType<typeof setTimeout> | null = null;
  private closed = false;

  /** `url`: where the WebSocket is, as ws://127.0.0.1:8470/ws. */
  constructor(
    readonly url: string,
    private readonly options: ConnectionOptions = {},
  ) {
    this.open();
  }

  get connected(): boolean {
    return this.status === "connected";
  }

  /** Calls `callback` with each message of the kind; the answer ends that. */
  on<T extends ServerMessageType>(type: T, callback: Callback<T>): () => void {
    const set = this.callbacks.get(type) ?? new Set();
    this.callbacks.set(type, set);
    set.add(callback as (message: never) => void);
    return () => void set.delete(callback as (message: never) => void);
  }

  /** Calls `callback` now and whenever the connection comes or goes. */
  onStatus(callback: (status: ConnectionStatus) => void): () => void {
    this.statusCallbacks.add(callback);
    callback(this.status);
    return () => void this.statusCallbacks.delete(callback);
  }

  /** Whether the message went out. Nothing waits for a new connection: a late command is worse than none. */
  send(message: ClientMessage): boolean {
    if (this.socket?.readyState !== 1) return false;
    this.socket.send(encode(message));
    return true;
  }

  get(path: string): Promise<Response> {
    return this.request(path, { method: "GET" });
  }

  post(path: string, body: unknown): Promise<Response> {
    return this.request(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  }

  delete(path: string): Promise<Response> {
    return this.request(path, { method: "DELETE" });
  }

  close(): void {
    this.closed = true;
    if (this.again !== null) clearTimeout(this.again);
    if (this.timer !== null) clearInterval(this.timer);
    this.socket?.close();
    this.socket = null;
    this.setStatus("closed");
  }

  private async request(path: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(path, init).catch((error: unknown) => {
      throw new Error(text("toast.notConnected"), { cause: error });
    });
    if (!answer.ok) throw new Error(await reason(answer));
    return answer;
  }

  private open(): void {
    this.again = null;
    this.setStatus("connecting");
    const Socket = this.options.socket ?? WebSocket;
    const socket = new Socket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.lastHeard = performance.now();
    socket.onopen = () => {
      this.lastHeard = this.bytesSince = performance.now();
      this.bytes = 0;
      socket.send(encode({ t: "hello", token: null, name: this.options.name ?? "" }));
      this.ping();
    };
    socket.onmessage = (event: MessageEvent) => this.receive(event.data as ArrayBuffer | string);
    socket.onclose = (event: CloseEvent) => this.lost(socket, event.code);
    this.timer ??= setInterval(() => this.tick(), pingEveryMs);
  }

  private receive(data: ArrayBuffer | string): void {
    this.lastHeard = performance.now();
    if (typeof data === "string") return;
    this.bytes += data.byteLength;
    let message: ServerMessage;
    try {
      message = decode(data) as ServerMessage;
    } catch {
      return;
    }
    if (message === null || typeof message !== "object") return;
    if (message.t === "pong") {
      const took = performance.now() - message.at;
      this.rttMs = Number.isNaN(this.rttMs) ? took : 0.8 * this.rttMs + 0.2 * took;
    } else if (message.t === "welcome") {
      this.viewer = message.viewer;
      this.delayMs = firstDelayMs;
      this.setStatus("connected");
    }
    for (const callback of [...(this.callbacks.get(message.t) ?? [])]) callback(message as never);
  }

  private tick(): void {
    const now = performance.now();
    if (now - this.bytesSince > 500) {
      this.bytesPerSecond = (1000 * this.bytes) / (now - this.bytesSince);
      this.bytes = 0;
      this.bytesSince = now;
    }
    // A page that stood still itself, as while it compiles shaders, has not listened: what came meanwhile is next.
    if (now - this.lastTick > 3 * pingEveryMs) this.lastHeard = now;
    this.lastTick = now;
    if (this.socket === null) return;
    if (now - this.lastHeard > silenceMs) {
      const silent = this.socket;
      silent.close();
      this.lost(silent, 0);
    } else if (this.socket.readyState === 1) this.ping();
  }

  private ping(): void {
    this.send({ t: "ping", at: performance.now() });
  }

  private lost(socket: WebSocket, code: number): void {
    if (this.socket !== socket || this.closed) return;
    socket.onmessage = socket.onclose = socket.onopen = null;
    this.socket = null;
    this.bytesPerSecond = 0;
    this.rttMs = NaN;
    const refused = refusals.has(code);
    this.setStatus(refused ? "refused" : "lost");
    this.again = setTimeout(() => this.open(), refused ? longestDelayMs : this.delayMs);
    this.delayMs = Math.min(longestDelayMs, 1.7 * this.delayMs);
  }

  private setStatus(status: ConnectionStatus): void {
    if (status === this.status) return;
    this.status = status;
    for (const callback of [...this.statusCallbacks]) callback(status);
  }
}

async function reason(answer: Response): Promise<string> {
  const words = await answer.text().catch(() => "");
  try {
    const body = JSON.parse(words) as { error: string; said?: Said[] };
    return said(body.error, body.said);
  } catch {
    return words.length > 0 && words.length < 400 ? words : `${answer.status} ${answer.statusText}`;
  }
}
