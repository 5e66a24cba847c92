// Two runs against each other: the difference of a channel, moment by moment.
import type { RecordingInfo } from "./protocol";
import { searchable } from "./recordings";
import { fits } from "./search";
import type { Series } from "./source";

export interface Difference {
  t: number[];
  y: number[];
  rms: number;
  largest: number;
  /** Where the largest difference is [s]. */
  largestAt: number;
}

/** Value of a series at a moment, mixed between its points; NaN outside. */
export function valueAt(series: Series, time: number): number {
  const { t, y } = series;
  const n = t.length;
  if (n === 0 || time < t[0]! || time > t[n - 1]!) return NaN;
  let low = 0;
  let high = n - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (t[middle]! <= time) low = middle;
    else high = middle - 1;
  }
  if (low === n - 1 || t[low] === time) return y[low]!;
  const u = (time - t[low]!) / (t[low + 1]! - t[low]!);
  return y[low]! + u * (y[low + 1]! - y[low]!);
}

/** `other` minus `main` at the moments of `main` that both have. Angles take the short way round. */
export function difference(main: Series, other: Series, angle = false): Difference {
  const result: Difference = { t: [], y: [], rms: 0, largest: 0, largestAt: 0 };
  let squares = 0;
  for (let i = 0; i < main.t.length; i += 1) {
    const time = main.t[i]!;
    let by = valueAt(other, time) - main.y[i]!;
    if (!Number.isFinite(by)) continue;
    if (angle) by = wrapped(by);
    result.t.push(time);
    result.y.push(by);
    squares += by * by;
    if (Math.abs(by) > result.largest) {
      result.largest = Math.abs(by);
      result.largestAt = time;
    }
  }
  result.rms = result.t.length ? Math.sqrt(squares / result.t.length) : NaN;
  if (result.t.length === 0) result.largest = NaN;
  return result;
}

/** An angle between −π and π. */
export function wrapped(angle: number): number {
  const turn = 2 * Math.PI;
  return angle - turn * Math.round(angle / turn);
}

/** Whether a component is an angle that may jump by a whole turn: headings, not counted wheel turns. */
export function isAngle(name: string, component: string, unit: string): boolean {
  return unit === "rad" && (/^(heading|yaw|roll|pitch|theta)$/.test(component) || /heading$/.test(name));
}

/** Recordings to compare with: those of the same scenario first, narrowed by a search that never hides a chosen one. */
export function comparable(
  all: readonly RecordingInfo[],
  shown: { recording: string | null; scenario: string | undefined; chosen: readonly string[] },
  search = "",
): RecordingInfo[] {
  const listed = (one: RecordingInfo): boolean => shown.chosen.includes(one.id) || fits(searchable(one), search);
  const others = all.filter((one) => one.id !== shown.recording && one.duration > 0 && listed(one));
  return others.sort((a, b) => Number(b.scenario === shown.scenario) - Number(a.scenario === shown.scenario));
}

/** Colours of ghosts, to be told apart on dark ground and by most who see few colours. */
export const GHOST_COLOURS: readonly string[] = ["#f2a541", "#5cc8ff", "#c792ea", "#7ee081", "#ff7b72", "#ffd866"];

export function freeColour(taken: readonly string[]): string {
  return GHOST_COLOURS.find((colour) => !taken.includes(colour)) ?? GHOST_COLOURS[taken.length % GHOST_COLOURS.length]!;
}
