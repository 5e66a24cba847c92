// All channels with their units, searchable; only what is in sight is asked for.
import type { Lab } from "./app";
import { clear, h, iconButton, note, write } from "./dom";
import { number } from "./i18n";
import type { Plots } from "./plots";
import type { ChannelInfo } from "./protocol";
import { fits } from "./search";
import { componentUnit } from "./source";

/** Channels by what comes before the last dot or slash: the robot and its part. */
export function groupChannels(channels: readonly ChannelInfo[], search: string): Map<string, ChannelInfo[]> {
  const groups = new Map<string, ChannelInfo[]>();
  for (const channel of channels) {
    if (!fits(`${channel[0]} ${channel[2]} ${channel[3].join(" ")} ${channel[1]}`, search)) continue;
    const head = /^(.*?)[./]/.exec(channel[0])?.[1] ?? "";
    groups.set(head, [...(groups.get(head) ?? []), channel]);
  }
  return groups;
}

export class Numbers {
  readonly element = h("div", { class: "numbers" });
  open = false;
  private readonly search = h("input", {
    type: "search",
    hint: "numbers.search",
    tip: "numbers.search",
    class: "search",
  });
  private readonly list = h("div", { class: "number-list" });
  private readonly closed = new Set<string>();
  private cells: { channel: string; component: number; node: HTMLElement }[] = [];

  constructor(
    private readonly lab: Lab,
    private readonly plots: Plots,
    private readonly showPlots: () => void,
  ) {
    this.element.append(this.search, this.list);
    this.search.addEventListener("input", () => this.build());
    lab.store.on(["channels", "language"], () => this.build());
  }

  setOpen(open: boolean): void {
    this.open = open;
    this.build();
  }

  tick(): void {
    const { source } = this.lab;
    if (!this.open || !source) return;
    for (const { channel, component, node } of this.cells) {
      const value = source.lookup(channel)?.[component];
      write(node, value === undefined ? "…" : number(value, 5));
    }
  }

  private build(): void {
    clear(this.list);
    this.cells = [];
    if (!this.open) return this.lab.wish("numbers", []);
    const { channels } = this.lab.store.now;
    const groups = groupChannels(channels, this.search.value);
    // Many robots begin folded: a match of ten would send a thousand numbers sixty times a second.
    const many = channels.length > 60 && groups.size > 3 && !this.search.value;
    let first = true;
    for (const [head, members] of groups) {
      const open = many ? first || this.closed.has(`+${head}`) : !this.closed.has(head);
      this.list.append(this.group(head, members, open));
      first = false;
    }
    if (!groups.size) this.list.append(note(channels.length ? "numbers.none" : "numbers.empty"));
    this.lab.wish(
      "numbers",
      this.cells.map((one) => one.channel),
    );
    this.tick();
  }

  private group(head: string, members: ChannelInfo[], open: boolean): HTMLElement {
    const title = h("summary", {}, h("span", {}, head || "–"), h("span", { class: "count" }, String(members.length)));
    const box = h("details", { class: "group", open }, title);
    title.addEventListener("click", (event) => {
      event.preventDefault();
      if (open) this.closed.add(head).delete(`+${head}`);
      else {
        this.closed.delete(head);
        this.closed.add(`+${head}`);
      }
      this.build();
    });
    if (open) for (const channel of members) box.append(this.channel(head, channel));
    return box;
  }

  private channel(head: string, channel: ChannelInfo): HTMLElement {
    const [name, , description, components] = channel;
    const short = head ? name.slice(head.length + 1) : name;
    const plotButton = iconButton(
      "plots",
      "numbers.plot",
      () => {
        const count = Math.max(1, components.length);
        for (let component = 0; component < Math.min(count, 8); component += 1)
          this.plots.add({ channel: name, component });
        this.showPlots();
      },
      "",
      "icon-button small",
    );
    const title = h(
      "div",
      { class: "channel-head", title: description },
      h("span", { class: "channel-name" }, short),
      plotButton,
    );
    const rows = (components.length > 1 ? components : [""]).map((component, index) => {
      const value = h("span", { class: "value" }, "…");
      this.cells.push({ channel: name, component: index, node: value });
      const shownUnit = componentUnit(channel, index);
      return h(
        "div",
        { class: "number" },
        h("span", { class: "component" }, component),
        value,
        h("span", { class: "unit" }, shownUnit),
      );
    });
    return h(
      "div",
      { class: "channel" },
      title,
      description ? h("p", { class: "channel-about" }, description) : null,
      ...rows,
    );
  }
}
