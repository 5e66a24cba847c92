// Messages that come and go, and the list of what a run said.
import { h, icon } from "./dom";
import type { Tone } from "./app";
import { text } from "./i18n";

const STAY_MS: Record<Tone, number> = { info: 3000, good: 4000, warning: 6000, error: 12_000 };
const MOST = 4;

export class Toasts {
  readonly element = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

  say(tone: Tone, words: string): void {
    const twin = [...this.element.children].find((one) => one.getAttribute("data-words") === words);
    twin?.remove();
    const close = h("button", { type: "button", class: "toast-close", "aria-label": text("close") }, icon("close"));
    const toast = h("div", { class: `toast ${tone}`, "data-words": words }, h("span", {}, words), close);
    if (tone === "error") toast.setAttribute("role", "alert");
    const end = (): void => {
      toast.classList.add("leaving");
      setTimeout(() => toast.remove(), 220);
    };
    close.addEventListener("click", end);
    let timer = setTimeout(end, STAY_MS[tone]);
    // Who points at a message is reading it.
    toast.addEventListener("pointerenter", () => clearTimeout(timer));
    toast.addEventListener("pointerleave", () => (timer = setTimeout(end, STAY_MS[tone])));
    this.element.append(toast);
    while (this.element.children.length > MOST) this.element.firstElementChild!.remove();
  }
}
