// The overlay that `?` opens: all keys, and what the hands do with the robot of the moment.
import { button, h } from "./dom";
import { keyLabel } from "./hands";
import { text, textOr } from "./i18n";
import { SHORTCUTS } from "./keyboard";
import type { Pilot } from "./piloting";

export class Help {
  readonly element: HTMLDialogElement;
  private readonly content = h("div", { class: "help-content" });

  constructor(
    private readonly pilot: Pilot,
    private readonly hasServer: boolean,
  ) {
    this.element = h("dialog", { class: "help", "aria-labelledby": "help-title" }, this.content);
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.element.close();
    });
  }

  get open(): boolean {
    return this.element.open;
  }

  toggle(): void {
    if (this.element.open) return this.element.close();
    this.draw();
    this.element.showModal();
  }

  private draw(): void {
    const shortcuts = SHORTCUTS.filter((one) => this.hasServer || !one.needsServer);
    const keys = shortcuts.map((one) => this.row(one.label, text(one.text)));
    const { mapping, robot } = this.pilot;
    const axes = Object.entries(mapping.axes).map(([name, one]) =>
      this.row([...one.plus, ...one.minus].map(keyLabel).join(" "), textOr(`axis.${name}`, name)),
    );
    const buttons = Object.entries(mapping.buttons).map(([name, one]) =>
      this.row([...new Set(one.keys.map(keyLabel))].join(" "), textOr(`hold.${name}`, name)),
    );
    const none = h("p", { class: "muted", t: "help.noHands" });
    const driving = [
      h("h3", {}, robot ? text("help.drive", { name: robot.name }) : text("help.driveNone")),
      axes.length ? h("dl", { class: "keys" }, ...axes.flat(), ...buttons.flat()) : none,
      h("h3", { t: "help.padTitle" }),
      h("p", { class: "muted", t: "help.pad" }),
    ];
    this.content.replaceChildren(
      h(
        "header",
        {},
        h("h2", { id: "help-title", t: this.hasServer ? "help.title" : "help.keys" }),
        button("close", () => this.element.close(), "quiet"),
      ),
      h(
        "div",
        { class: "help-columns" },
        h("section", {}, h("h3", { t: "help.keys" }), h("dl", { class: "keys" }, ...keys.flat())),
        h(
          "section",
          {},
          ...(this.hasServer ? driving : []),
          h("h3", { t: "help.mouseTitle" }),
          h("p", { class: "muted", t: "help.mouse" }),
        ),
      ),
    );
  }

  private row(keys: string, words: string): HTMLElement[] {
    const parts = keys.split(" ").map((one) => h("kbd", {}, one));
    return [h("dt", {}, ...parts), h("dd", {}, words)];
  }
}
