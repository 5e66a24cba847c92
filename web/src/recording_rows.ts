// A recording in the list: what it is called, what was changed, and its name, files and end.
import type { Lab } from "./app";
import { askName, askSure } from "./dialogs";
import { h, iconButton } from "./dom";
import { clock, said, text, textOr, type Key } from "./i18n";
import type { RecordingInfo } from "./protocol";
import { changesLine, changesTip, titleOf, when } from "./recordings";
import { isOver } from "./state";

const LONGEST_NAME = 100;

export function recordingRow(lab: Lab, one: RecordingInfo, current: boolean): HTMLElement {
  const status = textOr(`status.${one.status}`, said(one.status, one.said));
  const changes = one.changes ?? [];
  const title = titleOf(one);
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
