import { describe, expect, it, vi } from "vitest";
import { EmbeddedRecording } from "../src/embedded";
import { sumUp, sumUpGlb } from "../src/packing";
import { Track } from "../src/tracks";
import type { ChannelInfo } from "../src/protocol";

const channels: ChannelInfo[] = [
  ["r/pose", "m, m, rad", "", ["x", "y", "heading"]],
  ["r/speed", "m/s", "", []],
];

/** What src/botz/view/packing.py does, slowly. */
function differences(bytes: Uint8Array, columns: number, size: number): Uint8Array<ArrayBuffer> {
  const rows = bytes.length / columns / size;
  const number = (row: number, column: number): bigint => {
    let value = 0n;
    for (let byte = size - 1; byte >= 0; byte--)
      value = (value << 8n) + BigInt(row < 0 ? 0 : bytes[(row * columns + column) * size + byte]!);
    return value;
  };
  const packed = new Uint8Array(bytes.length);
  for (let column = 0; column < columns; column++)
    for (let row = 0; row < rows; row++) {
      const step = BigInt.asUintN(8 * size, number(row, column) - number(row - 1, column));
      for (let byte = 0; byte < size; byte++)
        packed[(column * size + byte) * rows + row] = Number((step >> BigInt(8 * byte)) & 255n);
    }
  return packed;
}

function bytesOf(array: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(array.buffer);
}

function glbOf(json: object, arrays: Uint8Array): Uint8Array<ArrayBuffer> {
  let text = JSON.stringify(json);
  text += " ".repeat((4 - (text.length % 4)) % 4);
  const glb = new Uint8Array(28 + text.length + arrays.length);
  const view = new DataView(glb.buffer);
  view.setUint32(12, text.length, true);
  glb.set(new TextEncoder().encode(text), 20);
  glb.set(arrays, 28 + text.length);
  return glb;
}

/** Rows at 0, 0.1, … 1 s: time, x, y, heading, speed. */
function recording(workspaces: Record<string, Uint8Array> = {}): EmbeddedRecording {
  const rows = new Float32Array(11 * 5);
  for (let row = 0; row < 11; row++) rows.set([row / 10, 2 * row, -row, NaN, 0.5 - row], 5 * row);
  const glb = glbOf({ bufferViews: [] }, new Uint8Array(0));
  const header = new TextEncoder().encode(
    JSON.stringify({
      details: { id: "run", scenario: "größer", channels, duration: 1, started_at: 0 },
      scene: glb.length,
      workspaces: Object.fromEntries(Object.entries(workspaces).map(([robot, points]) => [robot, points.length])),
      columns: 5,
    }),
  );
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, header.length, true);
  const parts = [length, header, glb, ...Object.values(workspaces), differences(bytesOf(rows), 5, 4)];
  return new EmbeddedRecording(Uint8Array.from(parts.flatMap((part) => [...part])));
}

describe("packed numbers", () => {
  it("are summed up, with their bytes in order", () => {
    // Two rows of two numbers: 1, 2 and 258, 1; what they rise by: 1, 257 and 2, −1.
    const packed = Uint8Array.from([1, 1, 0, 1, 2, 255, 0, 255]);
    sumUp(packed, 2, 2);
    expect([...new Uint16Array(packed.buffer)]).toEqual([1, 2, 258, 1]);
  });

  it("come back bit for bit", () => {
    const numbers = Float32Array.from([0, -0, 1e-40, NaN, Infinity, -3.25, 1e30, 7, -1e-3, 5, 6, 7]);
    for (const columns of [1, 2, 3, 4]) {
      const packed = differences(bytesOf(numbers), columns, 4);
      sumUp(packed, columns, 4);
      expect(packed).toEqual(bytesOf(numbers));
    }
  });

  it("stand in the arrays of a scene, where images stay as they are", () => {
    const places = Float32Array.from([1, 2, 3, 4, 5, 6]);
    const indices = Uint16Array.from([0, 1, 2, 2, 1, 65535]);
    const image = Uint8Array.from([9, 8, 7, 6]);
    const json = {
      bufferViews: [
        { byteOffset: 0, byteLength: 24 },
        { byteOffset: 24, byteLength: 4 },
        { byteOffset: 28, byteLength: 12 },
      ],
      accessors: [
        { bufferView: 0, type: "VEC3", componentType: 5126 },
        { bufferView: 2, type: "SCALAR", componentType: 5123 },
      ],
    };
    const packed = glbOf(json, Uint8Array.from([
      ...differences(bytesOf(places), 3, 4), ...image, ...differences(bytesOf(indices), 1, 2),
    ]));
    sumUpGlb(packed);
    expect(packed).toEqual(glbOf(json, Uint8Array.from([...bytesOf(places), ...image, ...bytesOf(indices)])));
  });
});

describe("a recording in the page's file", () => {
  it("answers as the lab's server does", async () => {
    const file = recording({ arm: Uint8Array.from([1, 2, 3, 4]) });
    expect((await (await file.get("api/recordings/run/info")).json()).scenario).toBe("größer");
    expect((await (await file.get("api/recordings/run/scene.glb")).arrayBuffer()).byteLength).toBeGreaterThan(28);
    const points = await (await file.get("api/recordings/run/workspace?robot=arm")).arrayBuffer();
    expect([...new Uint8Array(points)]).toEqual([1, 2, 3, 4]);
    expect((await (await file.get("api/recordings/run/workspace?robot=x")).arrayBuffer()).byteLength).toBe(0);
    await expect(file.get("api/scenarios")).rejects.toThrow("no lab");
    await expect(file.post()).rejects.toThrow("no lab");
    expect(file.send()).toBe(false);
    const told = vi.fn();
    file.onStatus(told);
    expect(told).toHaveBeenCalledWith("connected");
  });

  it("gives the rows of some channels between two times", async () => {
    const answer = await recording().get("api/recordings/run/data?channels=r%2Fspeed,r%2Fpose&from=0.3&to=0.5&rate=60");
    expect(answer.headers.get("x-botz-columns")).toBe("5");
    const rows = new Float32Array(await answer.arrayBuffer());
    expect(rows.length).toBe(3 * 5);
    expect([...rows.slice(0, 4)]).toEqual([Math.fround(0.3), -2.5, 6, -3]);
  });

  it("is a track like any other", async () => {
    const track = await Track.load(recording(), "run", ["r/speed"], channels, 1);
    expect(track.length).toBe(11);
    expect(track.at(0.25)("r/speed")![0]).toBeCloseTo(-2);
  });
});
