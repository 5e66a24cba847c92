// Small windows over the page: a question before something is lost, a name to give, why a run failed.
import { button, h } from "./dom";
import { text, type Key } from "./i18n";
import type { RecordingDetails } from "./protocol";

type Content = HTMLElement | string;

/** A window with its title; it is gone when it is closed. */
function opened(kind: string, title: Key, ...content: Content[]): HTMLDialogElement {
  document.querySelector(`dialog.${kind}`)?.remove();
  const id = `${kind}-title`;
  const dialog = h(
    "dialog",
    { class: `help ${kind}`, "aria-labelledby": id },
    h("div", { class: "help-content" }, h("header", {}, h("h2", { id, t: title })), ...content),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** The message of the error that a run ended with, and the traceback below it; null where there is none. */
export function failureOf(logs: RecordingDetails["logs"]): [message: string, traceback: string] | null {
  const last = logs.at(-1);
  if (last?.[1].toLowerCase() !== "error") return null;
  const [message, ...traceback] = last[2].split("\n");
  return traceback.length ? [message!, traceback.join("\n")] : null;
}

/** The message of a run that failed, and below it the traceback of the user's own code. */
export function showFailure(words: string, details: string): void {
  const dialog = opened(
    "failure",
    "failure.title",
    h("p", { class: "words" }, words),
    h("pre", { tabindex: 0 }, details.trimEnd()),
  );
  const close = button("close", () => dialog.close(), "quiet");
  dialog.querySelector("header")!.append(close);
  close.focus(); // not the traceback, whose ring would be mistaken for a field
}

/** Asks before something is deleted. */
export function askSure(question: string): Promise<boolean> {
  return new Promise((answer) => {
    let sure = false;
    const yes = button(
      "recording.deleteNow",
      () => {
        sure = true;
        dialog.close();
      },
      "danger",
    );
    const no = button("cancel", () => dialog.close(), "");
    no.autofocus = true;
    const dialog = opened("sure", "recording.delete", h("p", {}, question), h("footer", {}, no, yes));
    dialog.addEventListener("close", () => answer(sure));
  });
}

/** Asks for a name; null where it shall stay as it is. */
export function askName(now: string, otherwise: string, longest: number): Promise<string | null> {
  return new Promise((answer) => {
    let name: string | null = null;
    const input = h("input", {
      type: "text",
      class: "wide",
      value: now,
      maxlength: longest,
      placeholder: otherwise,
      "aria-label": text("recording.name"),
      autofocus: true,
    });
    const form = h(
      "form",
      { method: "dialog" },
      input,
      h("footer", {}, button("cancel", () => dialog.close(), ""), h("button", { class: "button primary", t: "save" })),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      name = input.value;
      dialog.close();
    });
    const dialog = opened("naming", "recording.name", form);
    dialog.addEventListener("close", () => answer(name));
    input.select();
  });
}
