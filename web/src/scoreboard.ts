// The goals of a soccer match, over the view.
import type { Lab } from "./app";
import { h, write } from "./dom";
import { textOr } from "./i18n";
import type { ChannelInfo } from "./protocol";

export class ScoreBoard {
  readonly element = h("div", { class: "score", hidden: true, role: "status", "aria-live": "polite" });
  private channel: ChannelInfo | null = null;
  private sides: { name: HTMLElement; goals: HTMLElement }[] = [];

  constructor(private readonly lab: Lab) {
    lab.store.on(["scene", "channels", "mode", "language"], () => this.build());
  }

  tick(): void {
    const values = this.channel && this.lab.source?.lookup(this.channel[0]);
    this.sides.forEach((side, index) => write(side.goals, values ? String(Math.round(values[index] ?? 0)) : "0"));
  }

  private build(): void {
    const { scene, channels, mode } = this.lab.store.now;
    const score = mode === "none" ? undefined : scene?.indicators.find((one) => one.kind === "score");
    this.channel = channels.find((one) => score?.kind === "score" && one[0] === score.channel) ?? null;
    this.element.hidden = this.channel === null;
    if (!this.channel) return void (this.sides = []);
    const names = this.channel[3].length === 2 ? this.channel[3] : ["blue", "yellow"];
    this.sides = names.map((name) => ({
      name: h("span", { class: `team ${name}` }, textOr(`team.${name}`, name)),
      goals: h("b", {}, "0"),
    }));
    const [a, b] = this.sides;
    this.element.replaceChildren(a!.name, a!.goals, h("span", { class: "colon" }, ":"), b!.goals, b!.name);
    this.tick();
  }
}
