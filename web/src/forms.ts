// The form of a scenario's main settings, made from what the schema says about them.
import { h } from "./dom";
import { formText, language, text } from "./i18n";
import type { FormField, ScenarioForm } from "./protocol";

export type Value = number | boolean | string | null;

export type Parsed = { ok: true; value: Value } | { ok: false; problem: string };

/** What was typed, as the schema wants it; a decimal comma is taken too. */
export function parseField(field: FormField, typed: string): Parsed {
  const words = typed.trim();
  switch (field.kind) {
    case "boolean":
      return { ok: true, value: words === "true" };
    case "choice": {
      const choice = (field.choices ?? []).find((one) => String(one) === words);
      return choice === undefined ? { ok: false, problem: text("form.choose") } : { ok: true, value: choice };
    }
    case "text":
      return { ok: true, value: words };
    case "number":
    case "integer":
      return parseNumber(field, words);
  }
}

function parseNumber(field: FormField, words: string): Parsed {
  if (words === "" && field.value === null) return { ok: true, value: null };
  // With a unit of its own it goes to the server as it is, which knows the units.
  const own = /^([-+]?[\d.]+(?:e[-+]?\d+)?) *([a-zA-Z°µ%]\S{0,19})$/.exec(words.replace(",", ".").replace("−", "-"));
  if (own && field.unit && Number.isFinite(Number(own[1])) && Number.isNaN(Number(own[0]))) {
    // Only 0 is the same in every unit; other limits are the server's.
    if (field.above === 0 && Number(own[1]) <= 0)
      return { ok: false, problem: text("form.above", { limit: shown(0) }) };
    return { ok: true, value: `${own[1]} ${own[2]}` };
  }
  const value = Number(words.replace(",", ".").replace("−", "-"));
  if (words === "" || !Number.isFinite(value)) return { ok: false, problem: text("form.number") };
  if (field.kind === "integer" && !Number.isInteger(value)) return { ok: false, problem: text("form.integer") };
  if (typeof field.above === "number" && value <= field.above)
    return { ok: false, problem: text("form.above", { limit: shown(field.above) }) };
  if (field.minimum !== null && value < field.minimum) {
    return { ok: false, problem: text("form.minimum", { limit: shown(field.minimum) }) };
  }
  if (field.maximum !== null && value > field.maximum) {
    return { ok: false, problem: text("form.maximum", { limit: shown(field.maximum) }) };
  }
  return { ok: true, value };
}

/** The settings that differ from the scenario's own: only these are sent. */
export function overrides(fields: readonly FormField[], values: ReadonlyMap<string, Value>): Record<string, Value> {
  const changed: Record<string, Value> = {};
  for (const field of fields) {
    const value = values.get(field.key);
    if (value !== undefined && value !== field.value) changed[field.key] = value;
  }
  return changed;
}

/** Fields under the heads of their keys: robots.vivi.pose.0 and .1 belong to "robots.vivi", its mass to
 * "robots.vivi.properties". */
export function grouped(fields: readonly FormField[]): Map<string, FormField[]> {
  const groups = new Map<string, FormField[]>();
  for (const field of fields) {
    const parts = field.key.split(".");
    const own = parts.slice(0, 2).join(".") + (field.group ? `.${field.group}` : "");
    const head = parts.length > 2 ? own : "";
    groups.set(head, [...(groups.get(head) ?? []), field]);
  }
  return groups;
}

/** A field's label: the schema's words in the chosen language, then the component, or a name as it is. */
export function labelOf({ label, part = "" }: FormField): string {
  if (!part || !label.endsWith(` ${part}`)) return formText(label);
  const words = formText(label.slice(0, -part.length - 1));
  const end = formText(part);
  return end === part ? `${words} ${part}` : `${words}: ${end}`;
}

/** "robots.vivi" as one reads it; what the scenario calls its robots and controllers stays. */
export function groupTitle(head: string): string {
  const [kind, name, group] = head.split(".") as [string, string, string | undefined];
  const inside = kind === "robots" || kind === "controllers" ? name : formText(name);
  return [formText(kind), inside, ...(group ? [formText(group)] : [])].join(" › ");
}

/** Text of a number in a field: short, but exact, with the decimal sign of the language. */
export function shown(value: Value): string {
  if (value === null) return "";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  const words = String(Number(value.toPrecision(9)));
  return language() === "pt-BR" ? words.replace(".", ",") : words;
}

/** Units as one writes them: m/s² instead of m/s^2. */
export function prettyUnit(unit: string): string {
  if (unit === "1") return "";
  return unit
    .replace(/\^(-?\d)/g, (_, power: string) =>
      power.replace("-", "⁻").replace(/\d/, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]!),
    )
    .replaceAll("*", "·")
    .replace(/^Nm\b/, "N·m");
}

export const TERRAIN_KEY = "world.terrain.type";

/** What was typed into the forms of one scenario, which stays while its ground changes and when that changes back. */
export class Typed {
  /** Groups that were opened or closed, by their heads. */
  readonly groups = new Map<string, boolean>();
  private readonly words = new Map<string, string>();

  /** Fields of the ground have one memory per type of ground. */
  constructor(private ground = "") {}

  on(ground: string): void {
    this.ground = ground;
  }

  get(key: string): string | undefined {
    return this.words.get(this.place(key));
  }

  set(key: string, words: string): void {
    if (key !== TERRAIN_KEY) this.words.set(this.place(key), words);
  }

  private place(key: string): string {
    return key.startsWith("world.terrain.") ? `${this.ground}:${key}` : key;
  }
}

/** The id of a field's control. */
export function fieldId(key: string): string {
  return `field-${key.replace(/[^\w-]/g, "-")}`;
}

export class SettingsForm {
  readonly element: HTMLElement;
  private readonly values = new Map<string, Value>();
  private readonly wrong = new Set<string>();
  private readonly refusals = new Map<string, (words: string) => void>();

  constructor(
    private readonly form: ScenarioForm,
    private readonly changed: () => void,
    private readonly terrain: (kind: string) => void = () => {},
    private readonly typed = new Typed(),
  ) {
    typed.on(String(form.fields.find((field) => field.key === TERRAIN_KEY)?.value ?? ""));
    const groups = grouped(form.fields);
    this.element = h("div", { class: "form" });
    let first = true;
    for (const [head, fields] of groups) {
      const rows = fields.map((field) => this.row(field, head));
      if (head === "") this.element.append(...rows);
      else {
        const open = typed.groups.get(head) ?? (first && groups.size <= 3);
        const count = h("span", { class: "count" }, String(fields.length));
        const group = h(
          "details",
          { class: "group", open },
          h("summary", {}, h("span", {}, groupTitle(head)), count),
          ...rows,
        );
        group.addEventListener("toggle", () => typed.groups.set(head, group.open));
        this.element.append(group);
        first = false;
      }
    }
  }

  get valid(): boolean {
    return this.wrong.size === 0;
  }

  get changes(): Record<string, Value> {
    return overrides(this.form.fields, this.values);
  }

  /** Says at the fields why they were refused where the units are known; what is no field here is passed over. */
  refuse(problems: Record<string, string>): void {
    for (const [key, words] of Object.entries(problems)) this.refusals.get(key)?.(words);
  }

  private row(field: FormField, head: string): HTMLElement {
    const id = fieldId(field.key);
    const tail = head && field.label === field.key ? field.key.slice(head.length + 1) : labelOf(field);
    const label = h("label", { for: id, title: formText(field.help) || field.key }, tail);
    const problem = h("p", { class: "field-problem", id: `${id}-problem`, role: "alert", hidden: true });
    const control = this.control(field, id);
    const take = (words: string): void => {
      const parsed = parseField(field, words);
      problem.hidden = parsed.ok;
      control.setAttribute("aria-invalid", String(!parsed.ok));
      if (parsed.ok) {
        this.wrong.delete(field.key);
        this.values.set(field.key, parsed.value);
        row.classList.toggle("changed", parsed.value !== field.value);
      } else {
        this.wrong.add(field.key);
        problem.textContent = parsed.problem;
      }
    };
    const listen = field.kind === "boolean" || field.kind === "choice" ? "change" : "input";
    control.addEventListener(listen, () => {
      const words =
        control instanceof HTMLInputElement && control.type === "checkbox" ? String(control.checked) : control.value;
      take(words);
      this.typed.set(field.key, words);
      this.changed();
      if (field.key === TERRAIN_KEY) this.terrain(words);
    });
    this.refusals.set(field.key, (words) => {
      problem.hidden = false;
      problem.textContent = words;
      control.setAttribute("aria-invalid", "true");
      control.closest("details")?.setAttribute("open", "");
    });
    control.setAttribute("aria-describedby", problem.id);
    const unit = h("span", { class: "unit" }, prettyUnit(field.unit));
    const row = h(
      "div",
      { class: `field field-${field.kind}` },
      label,
      h("span", { class: "entry" }, control, unit),
      problem,
    );
    const before = this.typed.get(field.key);
    if (before !== undefined) {
      if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = before === "true";
      else control.value = before;
      take(before);
    }
    return row;
  }

  private control(field: FormField, id: string): HTMLInputElement | HTMLSelectElement {
    if (field.kind === "boolean") {
      return h("input", { id, type: "checkbox", class: "switch", checked: field.value === true });
    }
    if (field.kind === "choice") {
      const choices = (field.choices ?? []).map((one) =>
        h("option", { value: String(one), selected: one === field.value }, formText(String(one))),
      );
      return h("select", { id }, ...choices);
    }
    const digits = field.kind === "number" ? "decimal" : field.kind === "integer" ? "numeric" : "text";
    // A phone's decimal pad has no minus sign: where negative numbers make sense, the whole keyboard.
    const mode = field.minimum !== null && field.minimum >= 0 ? digits : "text";
    return h("input", {
      id,
      type: "text",
      inputmode: mode,
      value: shown(field.value),
      autocomplete: "off",
      spellcheck: "false",
    });
  }
}
