// As much of a page as its parts need to be built and read, without a browser.
import { vi } from "vitest";

export class Piece {
  readonly dataset: Record<string, string> = {};
  readonly style: Record<string, string> = {};
  readonly attributes: Record<string, string> = {};
  readonly childNodes: Piece[] = [];
  readonly classList = { toggle: () => {}, add: () => {}, remove: () => {} };
  className = "";
  title = "";
  hidden = false;
  value = "";
  private words = "";

  constructor(readonly nodeType = 1) {}

  get textContent(): string {
    return this.words + this.childNodes.map((one) => one.textContent).join(" ");
  }
  set textContent(words: string) {
    this.replaceChildren();
    this.words = words;
  }
  get lastElementChild(): Piece | undefined {
    return this.childNodes.at(-1);
  }
  append(...pieces: (Piece | string)[]): void {
    for (const one of pieces) if (one instanceof Piece) this.childNodes.push(one);
  }
  replaceChildren(): void {
    this.words = "";
    this.childNodes.splice(0);
  }
  setAttribute(name: string, value: string): void {
    this.attributes[name] = value;
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = value;
    if (name === "hidden") this.hidden = true;
  }
  addEventListener(): void {}

  /** The first one below with this class. */
  find(name: string): Piece | undefined {
    if (this.className.split(" ").includes(name)) return this;
    for (const one of this.childNodes) {
      const found = one.find(name);
      if (found) return found;
    }
    return undefined;
  }
}

export function stubPage(): void {
  vi.stubGlobal("Node", { TEXT_NODE: 3 });
  vi.stubGlobal("document", {
    documentElement: new Piece(),
    createElement: () => new Piece(),
    createElementNS: () => new Piece(),
    createTextNode: () => new Piece(3),
    addEventListener: () => {},
  });
}
