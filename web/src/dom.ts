// Building the page's elements without HTML strings, so that the strict content policy holds and no text of a
// scenario can ever become markup.
import { text, type Key, type Params } from "./i18n";

type Child = Node | string | null | undefined | false;

export interface Props {
  class?: string;
  /** Key of the visible text; kept on the element, so that a change of language finds it. */
  t?: Key;
  /** Key of the tip, which is the name for screen readers too. */
  tip?: Key;
  /** Key of the placeholder of an input. */
  hint?: Key;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
  [attribute: string]: unknown;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = String(value);
    else if (name === "t") element.dataset.t = String(value);
    else if (name === "tip") element.dataset.tip = String(value);
    else if (name === "hint") element.dataset.hint = String(value);
    else if (name === "on") {
      for (const [event, listener] of Object.entries(value as object)) {
        element.addEventListener(event, listener as EventListener);
      }
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  wordElement(element);
  return element;
}

/** Writes an element's texts in the language of the moment. */
function wordElement(element: HTMLElement): void {
  const { t, tip, hint } = element.dataset;
  if (t) {
    let node = [...element.childNodes].find((one) => one.nodeType === Node.TEXT_NODE);
    if (!node) element.append((node = document.createTextNode("")));
    node.textContent = text(t as Key);
  }
  if (tip) {
    const words = text(tip as Key);
    element.title = element.dataset.keys ? `${words} (${element.dataset.keys})` : words;
    if (!t) element.setAttribute("aria-label", words);
  }
  if (hint) element.setAttribute("placeholder", text(hint as Key));
}

/** Writes all texts below an element again, after a change of language. */
export function wordAll(root: HTMLElement): void {
  for (const element of root.querySelectorAll<HTMLElement>("[data-t], [data-tip], [data-hint]")) wordElement(element);
}

/** Changes the text of an element to another key. */
export function say(element: HTMLElement, key: Key): void {
  if (element.dataset.t === key) return;
  element.dataset.t = key;
  wordElement(element);
}

export function tipOf(element: HTMLElement, key: Key): void {
  if (element.dataset.tip === key) return;
  element.dataset.tip = key;
  wordElement(element);
}

export function clear(element: Element): void {
  element.replaceChildren();
}

/** Text only when it changed: the page writes many numbers ten times a second. */
export function write(node: Node, words: string): void {
  if (node.textContent !== words) node.textContent = words;
}

export function note(key: Key, params?: Params, cls = "muted"): HTMLElement {
  const element = h("p", { class: cls });
  element.textContent = text(key, params);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Line icons on a 24 x 24 grid, drawn for this page. */
const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M8 5v14M16 5v14",
  back: "M17 4.5v15L5 12z",
  step: "M5 5v14l9-7zM18 5v14",
  stepBack: "M19 5v14l-9-7zM6 5v14",
  stop: "M6 6h12v12H6z",
  reset: "M4 5v5h5M4.6 10A8 8 0 1 1 4 13.5",
  slower: "M12 6v12l-8-6zM20 6v12l-8-6z",
  faster: "M4 6v12l8-6zM12 6v12l8-6z",
  library: "M4 6h16M4 12h16M4 18h10",
  numbers: "M9 4L7 20M17 4l-2 16M4 9h16M4 15h16",
  plots: "M4 4v16h16M7 15l4-5 3 3 5-7",
  layers: "M12 4l8 4-8 4-8-4zM4 12l8 4 8-4M4 16l8 4 8-4",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 10.2a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6",
  hands:
    "M7 8h10a4 4 0 0 1 4 4l-.6 4.2a2 2 0 0 1-3.5 1L15 15H9l-1.9 2.2a2 2 0 0 1-3.5-1L3 12a4 4 0 0 1 4-4zM8 10.5v3M6.5 12h3M15.5 11h.1M17.5 13h.1",
  people:
    "M9 11a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3 20c0-4 2.5-6 6-6s6 2 6 6M16 5a3 3 0 0 1 0 6M17.5 14c2.3.7 3.5 2.7 3.5 6",
  compare: "M4 17c4 0 4-10 8-10s4 6 8 6M4 12c4 0 4-6 8-6M15 18h5",
  recordings: "M4 6h16v12H4zM4 10h16M8 6v4M16 6v4",
  export: "M12 15V4M8 8l4-4 4 4M5 14v5h14v-5",
  help: "M9 9a3 3 0 1 1 4.2 2.8c-.9.4-1.2 1-1.2 2.2M12 17.5v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15.5 15.5L20 20",
  download: "M12 4v11M8 11l4 4 4-4M5 19h14",
  restart: "M5 12a7 7 0 1 0 2-5M5 4v4h4M12 8v4l3 2",
  sticks: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6",
  seat: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4M3.5 10.5L10 12M20.5 10.5L14 12M12 14v7",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-2 4 3M15.5 9.5h.1",
  rename: "M4 20l1-5L16 4l4 4L9 19zM13.5 6.5l4 4",
  remove: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  chevron: "M9 6l6 6-6 6",
  loop: "M5 10V9a3 3 0 0 1 3-3h9M14 3l3 3-3 3M19 14v1a3 3 0 0 1-3 3H7M10 21l-3-3 3-3",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
} as const;
export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function setIcon(button: HTMLElement, name: IconName): void {
  button.querySelector("svg path")?.setAttribute("d", ICONS[name]);
}

/** A button with an icon only; `keys` names its shortcut in the tip. */
export function iconButton(
  name: IconName,
  tip: Key,
  press: () => void,
  keys = "",
  cls = "icon-button",
): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: cls, tip, "data-keys": keys || undefined, on: { click: press } },
    icon(name),
  );
}

export function button(t: Key, press: () => void, cls = "", name?: IconName): HTMLButtonElement {
  return h("button", { type: "button", class: `button ${cls}`.trim(), t, on: { click: press } }, name && icon(name));
}

/** Gives the user a file. */
export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
