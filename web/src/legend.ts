/** A small table in the corner: which arrow is what, and how much of it a metre stands for. */

import { fixed } from "./i18n";
import type { LegendEntry } from "./marks";

export class Legend {
  private readonly box = document.createElement("div");
  private shown = "";

  constructor(container: HTMLElement) {
    this.box.className = "world-legend";
    Object.assign(this.box.style, {
      position: "absolute",
      left: "10px",
      bottom: "10px",
      padding: "7px 11px",
      borderRadius: "8px",
      background: "rgba(16, 20, 26, 0.66)",
      color: "#dfe7ef",
      font: "12px/1.6 system-ui, sans-serif",
      pointerEvents: "none",
      display: "none",
    });
    if (getComputedStyle(container).position === "static") container.style.position = "relative";
    container.appendChild(this.box);
  }

  show(entries: LegendEntry[]): void {
    const rows = entries.map((entry) => {
      const amount = `${plain(entry.perMetre)} ${entry.unit}`;
      return { colour: entry.colour, text: `${entry.title}  1 m = ${amount}` };
    });
    const key = rows.map((row) => row.text).join("|");
    if (key === this.shown) return;
    this.shown = key;
    this.box.style.display = rows.length > 0 ? "block" : "none";
    this.box.replaceChildren(
      ...rows.map((row) => {
        const line = document.createElement("div");
        const mark = document.createElement("span");
        Object.assign(mark.style, {
          display: "inline-block",
          width: "14px",
          height: "4px",
          borderRadius: "2px",
          margin: "0 8px 3px 0",
          background: row.colour,
        });
        line.append(mark, row.text);
        return line;
      }),
    );
  }

  remove(): void {
    this.box.remove();
  }
}

/** A round number with no more places than it needs, with the decimal sign of the language. */
export function plain(value: number): string {
  const places = Math.max(0, Math.ceil(-Math.log10(value) - 1e-9));
  return fixed(value, Math.min(places, 9));
}
