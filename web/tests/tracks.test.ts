import { describe, expect, it } from "vitest";
import { Track } from "../src/tracks";
import type { ChannelInfo } from "../src/protocol";

const known: ChannelInfo[] = [
  ["r/pose", "m, m, rad", "", ["x", "y", "heading"]],
  ["r/speed", "m/s", "", []],
];

/** The server's answer: rows of time, x, y, heading, speed at the rate that was asked for. */
function server(asked: string[]) {
  return {
    async get(path: string): Promise<Response> {
      asked.push(path);
      const query = new URL(path, "http://lab/").searchParams;
      const [from, to, rate] = [Number(query.get("from")), Number(query.get("to")), Number(query.get("rate"))];
      const rows: number[] = [];
      for (let k = 0; k <= Math.round((to - from) * rate); k++) {
        const t = from + k / rate;
        rows.push(t, 2 * t, 0, 3 + 0.5 * t, 10 * t);
      }
      return new Response(Float32Array.from(rows).buffer, { headers: { "x-botz-columns": "5" } });
    },
  };
}

describe("tracks", () => {
  it("give values at any time", async () => {
    const asked: string[] = [];
    const track = await Track.load(server(asked), "a b", ["r/pose", "r/speed", "r/none", "r/pose"], known, 4, { rate: 10 });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("recordings/a%20b/data?channels=r%2Fpose,r%2Fspeed&");
    expect(track.names).toEqual(["r/pose", "r/speed"]);
    const look = track.at(1.234);
    expect(look("r/speed")![0]).toBeCloseTo(12.34, 4);
    expect(look("r/pose")![0]).toBeCloseTo(2.468, 5);
    expect(look("r/none")).toBeNull();
    expect(track.at(-5)("r/speed")![0]).toBe(0);
    expect(track.at(99)("r/speed")![0]).toBeCloseTo(40, 4);
    expect(track.at(0.55)("r/speed")![0]).toBeCloseTo(5.5, 4); // and back again
  });

  it("read long recordings in pieces, without the seams twice, thinned to a bound", async () => {
    const asked: string[] = [];
    const track = await Track.load(server(asked), "r", ["r/pose", "r/speed"], known, 1000, { rate: 60, longest: 50000 });
    expect(asked.length).toBe(3);
    const { t, y } = track.series("r/speed");
    expect(t.length).toBe(track.length);
    expect(track.length).toBeGreaterThan(49000);
    expect(track.length).toBeLessThan(50010);
    for (let i = 1; i < t.length; i++) if (!(t[i]! > t[i - 1]!)) throw new Error(`time stands still at ${t[i]}`);
    expect(y[1000]).toBeCloseTo(10 * t[1000]!, 1);
  });

  it("give paths for trails", async () => {
    const track = await Track.load(server([]), "r", ["r/pose", "r/speed"], known, 10, { rate: 10 });
    const path = track.path("r/pose", 20, 5);
    expect(path.length % 3).toBe(0);
    expect(path.length / 3).toBeLessThanOrEqual(20);
    expect(path[path.length - 3]).toBeLessThanOrEqual(10);
    expect(path[2]).toBe(0); // a planar pose's third number is no height
    expect(track.path("r/none")).toHaveLength(0);
  });

  it("refuse an answer of another shape", async () => {
    const wrong = { get: async () => new Response(new ArrayBuffer(8), { headers: { "x-botz-columns": "2" } }) };
    await expect(Track.load(wrong, "r", ["r/pose"], known, 1)).rejects.toThrow("2 columns");
  });
});
