import { decode, encode } from "@msgpack/msgpack";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Connection, type ConnectionStatus } from "../src/connection";
import { setLanguage } from "../src/i18n";
import type { RunInfo } from "../src/protocol";

class Socket {
  static made: Socket[] = [];
  readyState = 0;
  binaryType = "";
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: ArrayBuffer }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly url: string) {
    Socket.made.push(this);
  }

  send(data: Uint8Array): void {
    this.sent.push(decode(data) as Record<string, unknown>);
  }

  close(): void {
    this.readyState = 3;
  }

  opens(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  says(message: unknown): void {
    this.onmessage?.({ data: encode(message).slice().buffer });
  }

  breaks(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

const socket = Socket as unknown as new (url: string) => WebSocket;
const last = () => Socket.made.at(-1)!;

function opened(): Connection {
  const connection = new Connection("ws://lab/ws", { name: "me", socket });
  last().opens();
  last().says({ t: "welcome", viewer: "v1", version: "1", limits: {} });
  return connection;
}

describe("connection", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    Socket.made = [];
  });
  afterEach(() => vi.useRealTimers());

  it("introduces itself and is connected when welcomed", () => {
    const seen: ConnectionStatus[] = [];
    const connection = new Connection("ws://lab/ws", { name: "me", socket });
    connection.onStatus((status) => seen.push(status));
    last().opens();
    expect(last().sent[0]).toEqual({ t: "hello", token: null, name: "me" });
    expect(connection.connected).toBe(false);
    last().says({ t: "welcome", viewer: "v1", version: "1", limits: {} });
    expect(connection.connected).toBe(true);
    expect(connection.viewer).toBe("v1");
    expect(seen).toEqual(["connecting", "connected"]);
    connection.close();
  });

  it("hands messages to those who asked for their kind", () => {
    const connection = opened();
    const runs: RunInfo[][] = [];
    const off = connection.on("runs", (message) => runs.push(message.runs));
    last().says({ t: "runs", runs: [] });
    last().says({ t: "log", run: "r", level: "info", text: "x" });
    off();
    last().says({ t: "runs", runs: [] });
    expect(runs).toHaveLength(1);
    connection.close();
  });

  it("survives nonsense", () => {
    const connection = opened();
    last().onmessage!({ data: Uint8Array.of(0xc1, 0xff).buffer });
    last().says(null);
    expect(connection.connected).toBe(true);
    connection.close();
  });

  it("opens anew when it breaks, each time later, and keeps nothing back", () => {
    const connection = opened();
    last().breaks();
    expect(connection.status).toBe("lost");
    expect(connection.send({ t: "release", run: "r" })).toBe(false);
    vi.advanceTimersByTime(260);
    expect(Socket.made).toHaveLength(2);
    last().breaks();
    vi.advanceTimersByTime(260);
    expect(Socket.made).toHaveLength(2);
    vi.advanceTimersByTime(400);
    expect(Socket.made).toHaveLength(3);
    last().opens();
    last().says({ t: "welcome", viewer: "v2", version: "1", limits: {} });
    expect(connection.connected).toBe(true);
    expect(last().sent.filter((message) => message["t"] === "release")).toHaveLength(0);
    connection.close();
  });

  it("asks slowly after a refusal", () => {
    const connection = opened();
    last().breaks(4401);
    expect(connection.status).toBe("refused");
    vi.advanceTimersByTime(4000);
    expect(Socket.made).toHaveLength(1);
    vi.advanceTimersByTime(1500);
    expect(Socket.made).toHaveLength(2);
    connection.close();
  });

  it("notices a line that has gone silent", () => {
    const connection = opened();
    vi.advanceTimersByTime(8000);
    expect(Socket.made.length).toBeGreaterThan(1);
    expect(connection.connected).toBe(false);
    connection.close();
  });

  it("measures answers and bytes", () => {
    const connection = opened();
    vi.advanceTimersByTime(1000);
    const ping = last().sent.find((message) => message["t"] === "ping")!;
    last().says({ t: "pong", at: ping["at"] });
    expect(connection.rttMs).toBeGreaterThanOrEqual(0);
    for (let k = 0; k < 10; k++) last().says({ t: "log", run: "r", level: "info", text: "x".repeat(100) });
    vi.advanceTimersByTime(1000);
    expect(connection.bytesPerSecond).toBeGreaterThan(1000);
    connection.close();
  });

  it("tells why a request was refused, in the chosen language", async () => {
    const connection = opened();
    const refusal = { error: "no run 'x'", said: [["none.run", { name: "x" }]] };
    const answers = [
      () => Promise.resolve(new Response(JSON.stringify(refusal), { status: 404 })),
      () => Promise.resolve(new Response(JSON.stringify({ error: "time.step: too long" }), { status: 422 })),
      () => Promise.resolve(new Response("", { status: 502, statusText: "Bad Gateway" })),
      () => Promise.reject(new TypeError("Failed to fetch")),
    ];
    const reasons = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const answer of answers) {
        vi.stubGlobal("fetch", answer);
        await connection.get("api/anything").catch((error: Error) => found.push(error.message));
      }
      vi.unstubAllGlobals();
      return found;
    };
    const english = ["no run 'x'", "time.step: too long", "502 Bad Gateway", "There is no connection to the lab."];
    expect(await reasons()).toEqual(english);
    setLanguage("pt-BR");
    const [first, ...others] = await reasons();
    setLanguage("en");
    expect(first).toBe("Não há simulação “x”.");
    expect(others).toEqual(["time.step: too long", "502 Bad Gateway", "Não há conexão com o laboratório."]);
    connection.close();
  });

  it("stays closed when told so", () => {
    const connection = opened();
    connection.close();
    vi.advanceTimersByTime(60000);
    expect(Socket.made).toHaveLength(1);
    expect(connection.status).toBe("closed");
  });
});
