// A recording in the list: what it is called, what was changed, and its name, files and end.
import type { Lab } from "./app";
import { askName, askSure } from "./dialogs";
import { h, iconButton } from "./dom";
import { clock, said, text, textOr, type Key } from "./i18n";
import { when } from "./library";
import type { Change, RecordingInfo } from "./protocol";
import { isOver } from "./state";

const MOST_TOLD = 3;
const LONGEST_NAME = 100;

/** A few changes in one line: the last part of each key with its value. */
export function changesLine(changes: readonly Change[]): string {
  const told = changes.slice(0, MOST_TOLD).map(([key, , here]) => {
    const parts = key.split(".");
    const value = typeof here === "number" ? Number(here.toPrecision(6)) : (here ?? "–");
    return `${parts.at(-1)} = ${value}`;
  });
  if (changes.length > MOST_TOLD) told.push(`+ ${changes.length - MOST_TOLD}`);
  return told.join(", ");
}

/** All changes, one per line, for a tip. */
export function changesTip(changes: readonly Change[]): string {
  return changes.map(([key, there, here]) => `${key}: ${there ?? "–"} → ${here ?? "–"}`).join("\n");
}

/** Text that a search looks through. */
export function searchable(one: RecordingInfo): string {
  return `${one.id} ${one.scenario} ${one.name ?? ""} ${changesLine(one.changes ?? [])}`.toLowerCase();
}

export function recordingRow(lab: Lab, one: RecordingInfo, current: boolean): HTMLElement {
  const status = textOr(`status.${one.status}`, said(one.status, one.said));
  const changes = one.changes ?? [];
  const title = one.name || one.scenario;
  const path = `api/recordings/${encodeURIComponent(one.id)}`;
  const open = h(
    "button",
    {
      type: "button",
      class: `entry ${current ? "current" : ""}`,
      "data-recording": one.id,
      title: changesTip(changes) || undefined,
      on: { click: () => void lab.showRecording(one.id) },
    },
    h("strong", {}, title),
    changes.length ? h("span", { class: "changes" }, changesLine(changes)) : "",
    h("span", {}, `${one.name ? `${one.scenario} · ` : ""}${when(one.started)} · ${clock(one.duration, 1)} · ${status}`),
  );
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      await lab.refreshRecordings();
    } catch (error) {
      lab.fail(error);
    }
  };
  const rename = async (): Promise<void> => {
    const name = await askName(one.name ?? "", one.scenario, LONGEST_NAME);
    if (name !== null && name.trim() !== (one.name ?? "")) {
      await act(() => lab.connection.post(`${path}/name`, { name }));
    }
  };
  const remove = async (): Promise<void> => {
    if (!(await askSure(text("recording.sure", { name: title, when: when(one.started) })))) return;
    await act(async () => {
      await lab.connection.delete(path);
      lab.recordingGone(one.id);
    });
  };
  const file = (ending: string, tip: Key): HTMLElement =>
    h("a", { class: "file", href: `${path}/recording.${ending}`, download: "", tip }, ending.toUpperCase());
  const tools = h(
    "span",
    { class: "recording-tools" },
    iconButton("rename", "recording.rename", () => void rename(), "", "icon-button small"),
    file("mcap", "recording.mcap"),
    file("csv", "recording.csv"),
    iconButton("remove", "recording.delete", () => void remove(), "", "icon-button small"),
  );
  // While its run goes on it is not whole, and its run needs it.
  const written = lab.store.now.runs.some((run) => run.recording === one.id && !isOver(run));
  return h("div", { class: "entry-row recording-row" }, open, written ? "" : tools);
}
