import { describe, expect, it } from "vitest";
import { FrameBuffer, mixAngle, mixingOf } from "../src/interpolation";
import type { ChannelInfo } from "../src/protocol";

const channels: ChannelInfo[] = [
  ["r/pose", "m, m, rad", "", ["x", "y", "heading"]],
  ["r/body/pose", "m, m, m, 1, 1, 1, 1", "", ["x", "y", "z", "qw", "qx", "qy", "qz"]],
  ["r/angle", "rad", "", []],
  ["r/playing", "1", "", []],
];

/** Frames at a steady rate, each `travel` seconds under way. */
function fed(buffer: FrameBuffer, rate: number, seconds: number, value: (t: number) => number[], travel = 0.01): void {
  for (let k = 0; k <= Math.round(rate * seconds); k++) {
    const t = k / rate;
    buffer.push(1000 * t, 50 + t, Float32Array.from(value(t)), 900 + t + travel);
  }
}

describe("frames", () => {
  it("move evenly between two of them, about one frame behind", () => {
    const buffer = new FrameBuffer(channels, ["r/angle"], 0.001);
    fed(buffer, 30, 2, (t) => [10 * t]);
    const before = buffer.sample(901.99)!.time;
    const after = buffer.sample(902.0)!.time;
    expect(after - before).toBeCloseTo(0.01, 5);
    // It came 10 ms late and is shown one gap later, not more than a fifth above that.
    const behind = 2.0 - 0.01 - after;
    expect(behind).toBeGreaterThan(0.02);
    expect(behind).toBeLessThan(0.045);
    expect(buffer.sample(902.0)!.values[0]).toBeCloseTo(10 * after, 4);
  });

  it("are held after the last one: no more than 50 ms are guessed", () => {
    const buffer = new FrameBuffer(channels, ["r/angle"], 0.001);
    fed(buffer, 5, 2, (t) => [t]);
    expect(buffer.sample(910)!.time).toBeLessThanOrEqual(2.05 + 1e-9);
    expect(buffer.sample(920)!.time).toBe(buffer.sample(910)!.time);
  });

  it("never run backwards while the delay grows", () => {
    const buffer = new FrameBuffer(channels, ["r/angle"], 0.001);
    let last = -Infinity;
    for (let k = 0; k < 200; k++) {
      const t = k / 50;
      const late = k > 100 ? 0.08 * Math.abs(Math.sin(k)) : 0.005;
      buffer.push(1000 * t, 50 + t, Float32Array.of(t), 900 + t + late);
      const shown = buffer.sample(900 + t + 0.1)!.time;
      expect(shown).toBeGreaterThanOrEqual(last - 1e-9);
      last = shown;
    }
  });

  it("turn the short way, and quaternions stay of length one", () => {
    const buffer = new FrameBuffer(channels, ["r/pose", "r/body/pose"], 0.001);
    buffer.push(0, 0, Float32Array.of(0, 0, 3.0, 0, 0, 0, 1, 0, 0, 0), 100);
    // The same attitude a quarter turn on, with the other sign.
    const s = Math.SQRT1_2;
    buffer.push(100, 0.1, Float32Array.of(1, 0, -3.0, 1, 0, 0, -s, 0, 0, -s), 100.1);
    let sample = buffer.sample(100.1)!;
    for (let now = 100.1; now < 100.3 && sample.step < 50; now += 0.001) sample = buffer.sample(now)!;
    const u = sample.step / 100;
    expect(u).toBeGreaterThan(0.05);
    expect(u).toBeLessThan(0.95);
    expect(sample.values[2]).toBeCloseTo(3.0 + u * (2 * Math.PI - 6.0), 4);
    const q = [...sample.values.subarray(6, 10)];
    expect(Math.hypot(...q)).toBeCloseTo(1, 5);
    expect(Math.abs(q[0]!)).toBeCloseTo(Math.cos((u * Math.PI) / 4), 4);
    expect(Math.abs(q[3]!)).toBeCloseTo(Math.sin((u * Math.PI) / 4), 4);
  });

  it("begin anew when the run was reset", () => {
    const buffer = new FrameBuffer(channels, ["r/angle"], 0.001);
    fed(buffer, 60, 1, (t) => [100 + t]);
    buffer.push(0, 51.02, Float32Array.of(0), 901.03);
    const sample = buffer.sample(901.03)!;
    expect(sample.step).toBe(0);
    expect(sample.values[0]).toBe(0);
  });

  it("do not mix flags", () => {
    const buffer = new FrameBuffer(channels, ["r/playing"], 0.001);
    fed(buffer, 20, 1, (t) => [t < 0.5 ? 1 : 0]);
    for (let now = 900; now < 901; now += 0.003) expect([0, 1]).toContain(buffer.sample(now)!.values[0]);
  });

  it("find channels by name", () => {
    const buffer = new FrameBuffer(channels, ["r/angle", "r/pose"], 0.001);
    expect(buffer.size).toBe(4);
    const row = Float32Array.of(7, 1, 2, 3);
    expect([...buffer.channel("r/pose", row)!]).toEqual([1, 2, 3]);
    expect(buffer.channel("r/other", row)).toBeNull();
    expect(buffer.sample()).toBeNull();
  });
});

describe("mixing", () => {
  it("is told by the components", () => {
    expect(channels.map(mixingOf)).toEqual(["pose3", "pose7", "numbers", "flags"]);
    expect(mixingOf(["a", "m/s, m/s, rad/s", "", ["vx", "vy", "yaw_rate"]])).toBe("numbers");
    expect(mixingOf(["v/slip", "1", "", []])).toBe("numbers");
  });

  it("takes the shorter arc over many turns", () => {
    expect(mixAngle(0.1, 2 * Math.PI - 0.1, 0.5)).toBeCloseTo(0, 9);
    expect(mixAngle(-3, 3, 0.5)).toBeCloseTo(-Math.PI, 1);
  });
});
