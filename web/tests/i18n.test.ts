import { afterEach, describe, expect, it } from "vitest";
import { clock, fittingLanguage, formText, number, said, setLanguage, text, textOr, translated } from "../src/i18n";
import type { Said, Texts } from "../src/protocol";
import { en } from "../src/texts_en";
import { pt } from "../src/texts_pt";

afterEach(() => setLanguage("en"));

const holes = (words: string): string[] => [...words.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).sort();
const files = import.meta.glob<string>("../src/*.ts", { query: "?raw", import: "default", eager: true });
const sources = Object.entries(files)
  .filter(([name]) => !name.includes("texts_"))
  .map(([, source]) => source)
  .join("\n");

describe("texts", () => {
  it("has every text in both languages, with the same holes", () => {
    expect(Object.keys(pt).sort()).toEqual(Object.keys(en).sort());
    for (const [key, words] of Object.entries(en)) {
      const other = pt[key as keyof typeof en];
      expect(other.trim(), key).not.toBe("");
      expect(holes(other), key).toEqual(holes(words));
    }
  });

  it("really translates: only names, signs and units are the same in both", () => {
    const same = Object.keys(en).filter((key) => en[key as keyof typeof en] === pt[key as keyof typeof en]);
    expect(same.sort()).toEqual(
      [
        "axis.x",
        "axis.y",
        "axis.z",
        "compare.rms",
        "hands.pad",
        "hands.padTitle",
        "help.padTitle",
        "step.image",
        "step.second",
        "toast.padFound",
      ].sort(),
    );
  });

  it("uses every text somewhere", () => {
    const computed = /^(link|step|status|engine|camera|handMode|pad|axis|hold|hint|team|export)\./;
    const unused = Object.keys(en).filter((key) => !sources.includes(`"${key}"`) && !computed.test(key));
    expect(unused).toEqual([]);
  });

  it("fills holes and takes fallbacks", () => {
    expect(text("form.minimum", { limit: 3 })).toBe("At least 3.");
    expect(textOr("camera.of-this-scene", "of-this-scene")).toBe("of-this-scene");
    setLanguage("pt-BR");
    expect(text("library.start")).toBe("Iniciar");
  });

  it("takes texts that a scene brings along, in English where there is no other", () => {
    const both = { en: ["Grid", "squares"], "pt-BR": ["Grade", "quadrados"] } satisfies Texts;
    setLanguage("pt-BR");
    expect(translated(both)[0]).toBe("Grade");
    expect(translated({ en: ["Tether", ""] })[0]).toBe("Tether");
  });

  it("chooses the language by the first wish that it knows", () => {
    expect(fittingLanguage([null, "de-DE", "pt-PT", "en"])).toBe("pt-BR");
    expect(fittingLanguage(["en-GB", "pt"])).toBe("en");
    expect(fittingLanguage(["ja"])).toBe("en");
  });
});

describe("what the server says", () => {
  const seat: Said = ["seat.free", {}];
  const speeds: Said = ["hands.speeds", { speed: 0.5, turn: 1.5 }];

  it("stays as it is in English, and without codes", () => {
    expect(said("the seat is free; take it", [seat])).toBe("the seat is free; take it");
    setLanguage("pt-BR");
    expect(said("of the simulator")).toBe("of the simulator");
    expect(said("of the simulator", null)).toBe("of the simulator");
  });

  it("is said by its codes, with its values, in Portuguese", () => {
    setLanguage("pt-BR");
    expect(said("the seat is free; take it", [seat])).toBe("O assento está livre; assuma-o.");
    expect(said("0.5 m/s, 1.5 rad/s", [speeds])).toBe("0,5 m/s, 1,5 rad/s");
    expect(said("both", [speeds, seat], " ")).toBe("0,5 m/s, 1,5 rad/s O assento está livre; assuma-o.");
    const died: Said = ["run.died", { how: ["ended.signal", { name: "SIGKILL" }] }];
    expect(said("its process ended", [died])).toBe("O processo da simulação terminou de repente (sinal SIGKILL).");
  });

  it("stays whole in English where one of its codes is not known", () => {
    setLanguage("pt-BR");
    expect(said("the seat is free; take it\nmore", [seat, ["of.tomorrow", {}]])).toBe("the seat is free; take it\nmore");
  });

  it("keeps words of a form that it does not know", () => {
    expect(formText("duration")).toBe("duration");
    setLanguage("pt-BR");
    expect(formText("duration")).toBe("duração");
    expect(formText("a word of a user's own")).toBe("a word of a user's own");
  });
});

describe("numbers for reading", () => {
  it("keeps digits, not places", () => {
    expect(number(0)).toBe("0.000");
    expect(number(-0.00001)).toBe("−1.00e−5");
    expect(number(1234.567)).toBe("1235");
    expect(number(12.3456)).toBe("12.35");
    expect(number(NaN)).toBe("–");
    expect(number(-0)).toBe("0.000");
  });

  it("writes a comma in Portuguese", () => {
    setLanguage("pt-BR");
    expect(number(12.3456)).toBe("12,35");
    expect(clock(1.5)).toBe("1,50 s");
  });

  it("rounds a time before it is split into minutes", () => {
    expect(clock(59.999)).toBe("1:00.00");
    expect(clock(3.254)).toBe("3.25 s");
    expect(clock(125.5, 1)).toBe("2:05.5");
    expect(clock(NaN)).toBe("–");
  });
});
