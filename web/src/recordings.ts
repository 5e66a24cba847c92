// What recordings are called, wherever one is listed: by name, by what was changed, by when.
import type { Change, RecordingInfo } from "./protocol";

const MOST_TOLD = 3;

/** A day and time as short as it can be understood; to the second, since short runs of a minute have to be told apart. */
export function when(started: string, now = new Date()): string {
  const at = new Date(started);
  if (Number.isNaN(at.getTime())) return started;
  const two = (value: number): string => String(value).padStart(2, "0");
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  const same = at.toDateString() === now.toDateString();
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return same ? time : `${date} ${time}`;
}

/** What its user calls it, otherwise its scenario. */
export function titleOf(one: RecordingInfo): string {
  return one.name || one.scenario;
}

/** A few changes in one line: the last part of each key with its value. */
export function changesLine(changes: readonly Change[]): string {
  const told = changes.slice(0, MOST_TOLD).map(changeWords);
  if (changes.length > MOST_TOLD) told.push(`+ ${changes.length - MOST_TOLD}`);
  return told.join(", ");
}

function changeWords([key, , here]: Change): string {
  const value = typeof here === "number" ? Number(here.toPrecision(6)) : (here ?? "–");
  return `${key.split(".").at(-1)} = ${value}`;
}

/** All changes, one per line, for a tip. */
export function changesTip(changes: readonly Change[]): string {
  return changes.map(([key, there, here]) => `${key}: ${there ?? "–"} → ${here ?? "–"}`).join("\n");
}

/** Text that a search looks through: all changes, also those that the list only counts. */
export function searchable(one: RecordingInfo): string {
  const changes = (one.changes ?? []).map((change) => `${change[0]} ${changeWords(change)}`);
  return [one.id, one.name ?? "", one.scenario, one.engine, one.started, ...changes].join(" ");
}
