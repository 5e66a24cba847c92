import { describe, expect, it } from "vitest";
import { difference, freeColour, GHOST_COLOURS, isAngle, valueAt, wrapped } from "../src/compare";
import { fileName, span } from "../src/exporting";
import type { Connection } from "../src/connection";
import { History, LiveSource } from "../src/live";
import type { ClientMessage, RunInfo } from "../src/protocol";
import { joinSeries, recent } from "../src/chart";
import { RateChoice } from "../src/rate";
import { Gathered } from "../src/trails";
import { nextFactor, Playback, RealTimeMeter, SPEEDS } from "../src/timeline";

describe("playback", () => {
  it("plays at any speed and stops at the ends", () => {
    const playback = new Playback(10);
    playback.toggle();
    playback.speed = 4;
    playback.advance(2);
    expect(playback.time).toBe(8);
    playback.advance(1);
    expect([playback.time, playback.playing]).toEqual([10, false]);
    playback.speed = -0.5;
    playback.toggle();
    playback.advance(4);
    expect(playback.time).toBe(8);
  });

  it("begins anew from the end, and backwards from the start", () => {
    const playback = new Playback(5);
    playback.seek(5);
    playback.toggle();
    expect(playback.time).toBe(0);
    playback.playing = false;
    playback.reverse();
    playback.toggle();
    expect(playback.time).toBe(5);
  });

  it("repeats", () => {
    const playback = new Playback(4);
    playback.loop = true;
    playback.toggle();
    playback.advance(5);
    expect(playback.time).toBeCloseTo(1);
    playback.speed = -1;
    playback.advance(2);
    expect(playback.time).toBeCloseTo(3);
    expect(playback.playing).toBe(true);
  });

  it("steps from picture to picture, forth and back to the same one", () => {
    const playback = new Playback(1, 0.1);
    playback.seek(0.25);
    playback.stepFrames(1);
    expect(playback.time).toBeCloseTo(0.3);
    playback.stepFrames(1);
    playback.stepFrames(-1);
    expect(playback.time).toBeCloseTo(0.3);
    playback.stepFrames(-9);
    expect(playback.time).toBe(0);
  });

  it("stays inside the recording whatever is asked for", () => {
    const playback = new Playback(3);
    playback.seek(99);
    expect(playback.time).toBe(3);
    playback.seek(NaN);
    expect(playback.time).toBe(0);
    expect(new Playback(0).advance(1)).toBe(false);
  });

  it("begins where the recording of a restarted run begins", () => {
    const playback = new Playback(10, 1 / 60, 6);
    expect(playback.time).toBe(6);
    playback.seek(2);
    expect([playback.time, playback.part(8)]).toEqual([6, 0.5]);
    playback.loop = true;
    playback.toggle();
    playback.advance(5);
    expect(playback.time).toBeCloseTo(7);
    playback.speed = -1;
    playback.advance(2);
    expect(playback.time).toBeCloseTo(9);
    playback.playing = false;
    playback.speed = 1;
    playback.seek(10);
    playback.toggle();
    expect(playback.time).toBe(6);
    expect(span(0, 99, 10, 6)).toEqual([6, 10]);
  });

  it("changes speed along the list", () => {
    const playback = new Playback(1);
    playback.changeSpeed(1);
    expect(playback.speed).toBe(2);
    for (let i = 0; i < 30; i += 1) playback.changeSpeed(-1);
    expect(playback.speed).toBe(SPEEDS[0]);
  });
});

describe("speed of a run", () => {
  it("ends in as fast as possible, and comes back from it", () => {
    expect(nextFactor(1, 1)).toBe(2);
    expect(nextFactor(8, 1)).toBe(0);
    expect(nextFactor(0, 1)).toBe(0);
    expect(nextFactor(0, -1)).toBe(8);
    expect(nextFactor(0.05, -1)).toBe(0.05);
    expect(nextFactor(0.7, -1)).toBe(0.5);
  });

  it("is measured over a second, and begins anew with the run", () => {
    const meter = new RealTimeMeter();
    let found: number | null = null;
    for (let ms = 0; ms <= 2000; ms += 50) found = meter.note((0.5 * ms) / 1000, ms);
    expect(found).toBeCloseTo(0.5);
    expect(meter.note(0, 2050)).toBeNull();
  });
});

describe("differences", () => {
  const line = (slope: number, n: number, step: number) => ({
    t: Array.from({ length: n }, (_, i) => i * step),
    y: Array.from({ length: n }, (_, i) => slope * i * step),
  });

  it("mixes between points and knows no values outside", () => {
    const series = line(2, 5, 1);
    expect(valueAt(series, 1.5)).toBeCloseTo(3);
    expect(valueAt(series, 4)).toBeCloseTo(8);
    expect(valueAt(series, 4.1)).toBeNaN();
    expect(valueAt({ t: [], y: [] }, 0)).toBeNaN();
  });

  it("are other minus main where both are, whatever their rates", () => {
    const found = difference(line(1, 11, 0.1), line(3, 4, 0.25));
    expect(found.t.at(-1)).toBeCloseTo(0.7);
    found.t.forEach((t, i) => expect(found.y[i]).toBeCloseTo(2 * t));
    expect(found.largest).toBeCloseTo(1.4);
    expect(found.largestAt).toBeCloseTo(0.7);
    const squares = found.t.reduce((sum, t) => sum + 4 * t * t, 0);
    expect(found.rms).toBeCloseTo(Math.sqrt(squares / found.t.length));
  });

  it("take the short way round for angles", () => {
    const main = { t: [0, 1], y: [3.1, 3.1] };
    const other = { t: [0, 1], y: [-3.1, -3.1] };
    expect(difference(main, other, true).largest).toBeCloseTo(2 * Math.PI - 6.2);
    expect(difference(main, other, false).largest).toBeCloseTo(6.2);
    expect(wrapped(3 * Math.PI + 0.1)).toBeCloseTo(-Math.PI + 0.1);
    expect(isAngle("r/pose", "heading", "rad")).toBe(true);
    expect(isAngle("r/wheels/left/angle", "", "rad")).toBe(false);
  });

  it("say that there is nothing in common", () => {
    const found = difference({ t: [0], y: [1] }, { t: [5], y: [1] });
    expect(found.rms).toBeNaN();
    expect(found.largest).toBeNaN();
  });

  it("give each ghost a colour of its own", () => {
    const taken: string[] = [];
    for (let i = 0; i < GHOST_COLOURS.length; i += 1) taken.push(freeColour(taken));
    expect(new Set(taken).size).toBe(GHOST_COLOURS.length);
    expect(GHOST_COLOURS).toContain(freeColour(taken));
  });
});

describe("plots", () => {
  it("join series of different moments without inventing gaps", () => {
    const rows = joinSeries([
      { t: [0, 2], y: [1, 2] },
      { t: [0, 1, 2], y: [5, NaN, 7] },
    ]);
    expect(rows).toEqual([
      [0, 1, 2],
      [1, undefined, 2],
      [5, null, 7],
    ]);
    expect(joinSeries([])).toEqual([[]]);
  });

  it("keep one point before the window", () => {
    const series = { t: [0, 1, 2, 3], y: [0, 10, 20, 30] };
    expect(recent(series, 1.5)).toEqual({ t: [1, 2, 3], y: [10, 20, 30] });
    expect(recent(series, -1).t).toEqual([0, 1, 2, 3]);
  });

  it("forget the past of a run that begins anew, and what is too long ago", () => {
    const history = new History(2);
    history.add(0, [1, 2]);
    history.add(0.5, [3, 4]);
    history.add(0.5, [9, 9]);
    expect(history.series(1)).toEqual({ t: [0, 0.5], y: [2, 4] });
    history.add(0.1, [5, 6]);
    expect(history.t).toEqual([0.1]);
    for (let i = 0; i < 20_000; i += 1) history.add(1 + i, [i, i]);
    expect(history.t.length).toBeLessThanOrEqual(7800);
    expect(Array.from(history.series(0).y).at(-1)).toBe(19_999);
  });
});

describe("rate of frames", () => {
  const listen = (choice: RateChoice, from: number, seconds: number, perSecond: number, rtt = 5): number[] => {
    const asked: number[] = [];
    for (let ms = 0; ms < 1000 * seconds; ms += 100) {
      for (let i = 0; i < perSecond / 10; i += 1) choice.note();
      if (choice.judge(from + ms, rtt, 5)) asked.push(choice.rate);
    }
    return asked;
  };

  it("stays at sixty on a good line", () => {
    expect(listen(new RateChoice(), 0, 30, 60)).toEqual([]);
  });

  it("falls until the line carries it, and rises again later", () => {
    const choice = new RateChoice();
    expect(listen(choice, 0, 8, 20)).toEqual([30]);
    listen(choice, 8000, 8, 10);
    expect(choice.rate).toBe(10);
    expect(listen(choice, 16_000, 60, 10)[0]).toBe(20);
  });

  it("falls when answers queue behind frames", () => {
    const choice = new RateChoice();
    listen(choice, 0, 5, 60, 900);
    expect(choice.rate).toBeLessThan(60);
  });

  it("does not take a pause for a bad line", () => {
    const choice = new RateChoice();
    for (let ms = 0; ms < 20_000; ms += 100) {
      choice.rest();
      expect(choice.judge(ms, 5, 5)).toBe(false);
    }
    expect(choice.rate).toBe(60);
  });
});

describe("exports", () => {
  it("have plain file names", () => {
    expect(fileName("vivi-rough", "mp4")).toBe("vivi-rough.mp4");
    expect(fileName("my folder/tést.yaml", "png", 1.234)).toBe("my-folder-t-st-1.23s.png");
    expect(fileName("", "gif")).toBe("botz.gif");
  });

  it("keep their span in order and inside", () => {
    expect(span(2, 5, 10)).toEqual([2, 5]);
    expect(span(5, 2, 10)).toEqual([2, 5]);
    expect(span(-3, 99, 10)).toEqual([0, 10]);
    expect(span(NaN, NaN, 10)).toEqual([0, 10]);
    expect(span(3, 3, 10)).toEqual([0, 10]);
  });
});

describe("ways", () => {
  it("take points apart, thin themselves, and leave out what is no place", () => {
    const way = new Gathered();
    expect(way.add(0, 0, 0)).toBe(true);
    expect(way.add(0.001, 0, 0)).toBe(false);
    expect(way.add(NaN, 0, 0)).toBe(false);
    for (let i = 1; i < 10_000; i += 1) way.add(i, 0, 0);
    expect(way.array.length).toBeLessThanOrEqual(9003);
    expect(way.array[0]).toBe(0);
    expect(way.array.at(-3)).toBeGreaterThan(9990);
  });
});

describe("numbers of a run", () => {
  const run = { id: "r", step_ns: 1e6, channels: [["a", "m", "", []]] } as unknown as RunInfo;

  it("are no longer sent once nobody looks, where the server still knows the run", () => {
    const said: ClientMessage[] = [];
    const connection = { send: (message: ClientMessage) => said.push(message) > 0 } as unknown as Connection;
    const asking = (): LiveSource => {
      const source = new LiveSource(connection, run);
      source.need(["a"], []);
      source.watch();
      said.length = 0;
      return source;
    };
    asking().close();
    expect(said).toMatchObject([{ t: "watch", run: "r", channels: [] }]);
    asking().close(false);
    expect(said).toEqual([]);
  });
});
