// The page in two languages. Every text has a key; `texts_en.ts` is the reference, `texts_pt.ts` has the same keys.
// What the server says in English is said in Portuguese by `texts_pt_server.ts`.
import type { Said, Texts } from "./protocol";
import { en } from "./texts_en";
import { pt } from "./texts_pt";
import { ptForm, ptSentences } from "./texts_pt_server";

export type Key = keyof typeof en;
export type Language = "en" | "pt-BR";
export type Params = Record<string, string | number>;

export const LANGUAGES: readonly Language[] = ["en", "pt-BR"];
const TEXTS: Record<Language, Record<Key, string>> = { en, "pt-BR": pt };

let chosen: Language = "en";

export function language(): Language {
  return chosen;
}

export function setLanguage(name: Language): void {
  chosen = name;
  if (typeof document !== "undefined") document.documentElement.lang = name;
}

/** The language that fits what a browser or an address asks for: any Portuguese is Brazilian here. */
export function fittingLanguage(wishes: readonly (string | null | undefined)[]): Language {
  for (const wish of wishes) {
    const head = wish?.toLowerCase().split("-")[0];
    if (head === "pt") return "pt-BR";
    if (head === "en") return "en";
  }
  return "en";
}

/** The text of a key; `{name}` in it is replaced by the parameter of that name. */
export function text(key: Key, params: Params = {}): string {
  return TEXTS[chosen][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}

export function isKey(key: string): key is Key {
  return key in en;
}

/** The text of a computed key, or a fallback: for names that a scene or a robot brings along. */
export function textOr(key: string, fallback: string, params: Params = {}): string {
  return isKey(key) ? text(key, params) : fallback;
}

/** Texts that come with what they name, which English has at least. */
export function translated(texts: Texts): [string, string] {
  return texts[chosen] ?? texts.en;
}

/** What the server says: its own English, or the same in the chosen language where that has all of its sentences. */
export function said(english: string, sentences?: readonly Said[] | null, between = "\n"): string {
  if (chosen === "en" || !sentences?.length) return english;
  const words = sentences.map(sentence);
  return words.includes(null) ? english : words.join(between);
}

function sentence([code, values]: Said): string | null {
  const words = ptSentences[code];
  if (words === undefined) return null;
  return words.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (Array.isArray(value)) return sentence(value) ?? whole;
    return typeof value === "number" ? String(value).replace(".", ",") : (value ?? whole);
  });
}

/** A label, a choice or an explanation of a form, which the schema has in English. */
export function formText(english: string): string {
  return chosen === "en" ? english : (ptForm[english] ?? english);
}

/** A number for reading: a sensible count of digits, with the decimal sign of the language. */
export function number(value: number, digits = 4): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let words: string;
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) words = value.toExponential(Math.max(0, digits - 2));
  else {
    const whole = size < 1 ? 1 : Math.floor(Math.log10(size)) + 1;
    words = value.toFixed(Math.max(0, digits - whole));
    if (/^-0(\.0*)?$/.test(words)) words = words.slice(1);
  }
  words = words.replaceAll("-", "−");
  return chosen === "pt-BR" ? words.replace(".", ",") : words;
}

export function fixed(value: number, places: number): string {
  const words = (Number.isFinite(value) ? value.toFixed(places) : "–").replace("-", "−");
  return chosen === "pt-BR" ? words.replace(".", ",") : words;
}

/** Seconds as 3.25 s or 2:03.25. */
export function clock(seconds: number, places = 2): string {
  if (!Number.isFinite(seconds)) return "–";
  const sign = seconds < 0 ? "−" : "";
  // Rounded before it is split: 59.999 s is 1:00.00, never 0:60.00.
  const unit = 10 ** places;
  const total = Math.round(Math.abs(seconds) * unit) / unit;
  const minutes = Math.floor(total / 60);
  const rest = fixed(total - 60 * minutes, places);
  return minutes ? `${sign}${minutes}:${rest.padStart(places ? places + 3 : 2, "0")}` : `${sign}${rest} s`;
}
