import type { Choice, Habit, HabitShares, Shares } from "./name-habits.ts";
import { PARTICLES } from "./name-words.ts";

/** A form of a name in an address, and its probability; those of one name add up to at most 1. */
export interface NameForm {
  /** Letters `a` to `z`, separated by hyphens, points and apostrophes. */
  text: string;
  weight: number;
  /** What the organisation chose where names of this kind can be written in several ways. */
  choices: readonly Choice[];
}

/** A surname with its particles: `van der Berg`. */
interface Surname {
  particles: readonly string[];
  name: string;
}

/** The ways to join the words of a first name, not yet in ASCII. */
export function structuresOfFirst(name: string, habits: HabitShares): NameForm[] {
  const habit = isHyphenated(name) ? "hyphenatedGiven" : "spacedGiven";
  return withApostrophes(joinings(wordsOf(name), habit, habits), habits);
}

/** The ways to join the words of a last name, with or without its particles, not yet in ASCII. */
export function structuresOfLast(name: string, habits: HabitShares): NameForm[] {
  const surnames = surnamesOf(wordsOf(name));
  const habit = isHyphenated(name) ? "hyphenatedSurname" : "spacedSurname";
  const written = surnames.some(({ particles }) => particles.length > 0)
    ? choicesOf("particle", habits("particle")).map((form) => ({ form, how: form.text }))
    : [{ form: { text: "", weight: 1, choices: [] }, how: "dropped" }];
  const forms = written.flatMap(({ form, how }) =>
    joinings(
      surnames.map((surname) => withParticles(surname, how)),
      habit,
      habits,
    ).map(({ text, weight, choices }) => ({
      text,
      weight: weight * form.weight,
      choices: [...form.choices, ...choices],
    })),
  );
  return withApostrophes(forms, habits);
}

function joinings(words: readonly string[], habit: Habit, habits: HabitShares): NameForm[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const last = rest.at(-1);
  if (last === undefined) return [{ text: first, weight: 1, choices: [] }];
  const texts: Record<string, string> = {
    joined: words.join(""),
    hyphen: words.join("-"),
    point: words.join("."),
    initial: `${first}.${last.charAt(0)}`,
    first,
    last,
  };
  return choicesOf(habit, habits(habit)).flatMap(({ text: how, ...form }) => {
    const text = texts[how];
    return text === undefined ? [] : [{ ...form, text }];
  });
}

function withParticles({ particles, name }: Surname, how: string): string {
  switch (how) {
    case "joined":
      return [...particles, name].join("");
    case "hyphen":
      return [...particles, name].join("-");
    case "point":
      return [...particles, name].join(".");
    case "initials":
      return particles.map((particle) => particle.charAt(0)).join("") + name;
    default:
      return name;
  }
}

function withApostrophes(forms: readonly NameForm[], habits: HabitShares): NameForm[] {
  const signs: Record<string, string> = { without: "", hyphen: "-", kept: "'" };
  return forms.flatMap((form) =>
    form.text.includes("'")
      ? choicesOf("apostrophe", habits("apostrophe")).map(({ text: how, weight, choices }) => ({
          text: form.text.replaceAll("'", signs[how] ?? ""),
          weight: form.weight * weight,
          choices: [...form.choices, ...choices],
        }))
      : [form],
  );
}

/** The choices of a habit as forms, each with the name of its choice as text. */
export function choicesOf(habit: Habit, shares: Shares): NameForm[] {
  return Object.entries(shares).map(([text, weight]) => ({ text, weight, choices: [`${habit}.${text}`] }));
}

/** Particles belong to the word after them: `de la Cruz Romero` has two surnames. */
function surnamesOf(words: readonly string[]): Surname[] {
  const surnames: Surname[] = [];
  let particles: string[] = [];
  for (const [index, word] of words.entries()) {
    if (index < words.length - 1 && PARTICLES.has(word)) {
      particles.push(word);
    } else {
      surnames.push({ particles, name: word });
      particles = [];
    }
  }
  return surnames;
}

function isHyphenated(name: string): boolean {
  return /\p{L}\s*[-‐‑]\s*\p{L}/u.test(name);
}

function wordsOf(name: string): string[] {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’ʼ`´]/g, "'")
    .replace(/(?<=\p{Script=Cyrillic})'(?=\p{Script=Cyrillic})/gu, "")
    .split(/[^\p{L}\p{M}']+/u)
    .filter((word) => /\p{L}/u.test(word));
}
