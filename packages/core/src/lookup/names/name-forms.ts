import { memoized } from "../memoized.ts";
import type { Choice, Habit, HabitShares, Shares } from "./name-habits.ts";
import { usualHabits } from "./name-habits.ts";
import { choicesOf, type NameForm, structuresOfFirst, structuresOfLast } from "./name-structures.ts";
import { spellings, toAscii } from "./transliterate.ts";

/** The forms of a person's name in addresses, each list likeliest first. Empty for a name without letters. */
export interface NameForms {
  first: readonly NameForm[];
  last: readonly NameForm[];
  /** Abbreviations of the first name in addresses: `a`; for `Anne-Marie` also `am`. */
  firstInitials: readonly NameForm[];
  /** Abbreviations of the last name: for `van der Berg` `v`, `b`, `vdb`. */
  lastInitials: readonly NameForm[];
}

/** One spelling of a whole name, and its probability: an address never mixes `joerg` and `muller`. */
export interface NameSpelling {
  weight: number;
  choices: readonly Choice[];
  forms: NameForms;
}

/** Less likely forms are omitted. */
const MIN_WEIGHT = 0.002;
const MAX_FORMS = 16;
const MAX_SPELLINGS = 4;

/** The letters that organisations write as one letter or two. */
const LETTERS: readonly { habit: Habit; found: RegExp; two: Readonly<Record<string, string>> }[] = [
  { habit: "umlaut", found: /[äöüø]/g, two: { ä: "ae", ö: "oe", ü: "ue", ø: "oe" } },
  { habit: "ring", found: /å/g, two: { å: "aa" } },
  { habit: "ligature", found: /[æß]/g, two: { æ: "ae", ß: "ss" } },
  { habit: "stroke", found: /đ/g, two: { đ: "dj" } },
];
const ONE: Readonly<Record<string, string>> = {
  ...{ ä: "a", ö: "o", ü: "u", ø: "o" },
  ...{ å: "a", æ: "a", ß: "s", đ: "d" },
};

/**
 * Languages with these letters seldom write the others as two: Turkish, Hungarian, Estonian and similar ones.
 * Scandinavian ones do so less often than German.
 */
const RARELY_TWO = { letters: /[ğışçőűáéíóúõšž]/, shares: { two: 0.12, one: 0.87 } };
const GERMAN_LETTERS = /[äöü]/;
const NORDIC_SHARES = { two: 0.35, one: 0.64 };

/** The spellings of a name with their forms, likeliest first. */
export function nameSpellings(
  firstName: string,
  lastName: string,
  habits: HabitShares = usualHabits,
): NameSpelling[] {
  const first = firstName.normalize("NFC").toLowerCase();
  const last = lastName.normalize("NFC").toLowerCase();
  const written = first + last;
  let ways: (Omit<NameSpelling, "forms"> & { spell: (name: string) => string })[] = [
    { weight: 1, choices: [], spell: (name) => name },
  ];
  for (const { habit, found, two } of LETTERS.filter((each) => written.search(each.found) >= 0)) {
    const shares = habits(habit, habit === "umlaut" ? umlautShares(written) : undefined);
    ways = ways.flatMap((way) =>
      choicesOf(habit, shares).map(({ text: how, weight, choices }) => ({
        weight: way.weight * weight,
        choices: [...way.choices, ...choices],
        spell: (name: string) =>
          way.spell(name).replace(found, (letter) => (how === "two" ? two[letter] : ONE[letter]) ?? letter),
      })),
    );
  }
  return ways
    .sort((left, right) => right.weight - left.weight)
    .slice(0, MAX_SPELLINGS)
    .map(({ weight, choices, spell }) => ({
      weight,
      choices,
      forms: nameForms(spell(first), spell(last), habits),
    }));
}

function umlautShares(written: string): Shares | undefined {
  if (RARELY_TWO.letters.test(written)) return RARELY_TWO.shares;
  return GERMAN_LETTERS.test(written) ? undefined : NORDIC_SHARES;
}

function nameForms(firstName: string, lastName: string, habits: HabitShares): NameForms {
  const isUsual = habits === usualHabits;
  const first = isUsual ? usualFirst(firstName) : formsOf(firstName, structuresOfFirst, habits);
  const last = isUsual ? usualLast(lastName) : formsOf(lastName, structuresOfLast, habits);
  return { first: first.whole, last: last.whole, firstInitials: first.initials, lastInitials: last.initials };
}

/** Patterns are learnt by the usual habits, from all contacts of a domain. */
const usualFirst = memoized((name) => formsOf(name, structuresOfFirst, usualHabits));
const usualLast = memoized((name) => formsOf(name, structuresOfLast, usualHabits));

/** One word of plain letters, as most names are, has one form, whatever the habits. */
const PLAIN = /^[a-z]+$/;

function plainForm(text: string): NameForm[] {
  return [{ text, weight: 1, choices: [] }];
}

/** The forms of a first or a last name. */
function formsOf(name: string, structures: typeof structuresOfFirst, habits: HabitShares) {
  if (PLAIN.test(name)) return { whole: plainForm(name), initials: plainForm(name.charAt(0)) };
  const whole = spelledForms(structures(name, habits));
  return { whole, initials: initialsOf(whole, name, habits) };
}

function spelledForms(structures: readonly NameForm[]): NameForm[] {
  const forms = new Map<string, NameForm>();
  for (const { text: structure, weight, choices } of structures) {
    if (weight < MIN_WEIGHT) continue;
    for (const spelling of spellings(structure)) {
      const text = spelling.text.replace(/[^a-z.'-]/g, "");
      if (/^[a-z]/.test(text) && /[a-z]$/.test(text)) {
        addTo(forms, { text, weight: weight * spelling.weight, choices });
      }
    }
  }
  return likeliest(forms);
}

function initialsOf(forms: readonly NameForm[], name: string, habits: HabitShares): NameForm[] {
  const words = toAscii(name)
    .replace(/['`]/g, "")
    .split(/[^a-z]+/);
  const all = words.map((word) => word.charAt(0)).join("");
  const initials = new Map<string, NameForm>();
  const { one = 1, all: several = 0 } = all.length > 1 && all.length <= 4 ? habits("initials") : {};
  for (const { text, weight, choices } of forms) {
    const ways: readonly Choice[] = several > 0 ? [...choices, "initials.one"] : choices;
    addTo(initials, { text: text.charAt(0), weight: weight * one, choices: ways });
  }
  if (several > 0 && forms.length > 0) {
    addTo(initials, { text: all, weight: several, choices: ["initials.all"] });
  }
  return likeliest(initials);
}

/** Of a text that several choices form, only the common ones are certain. */
function addTo(forms: Map<string, NameForm>, { text, weight, choices }: NameForm): void {
  const known = forms.get(text);
  forms.set(text, {
    text,
    weight: weight + (known?.weight ?? 0),
    choices: known === undefined ? choices : known.choices.filter((choice) => choices.includes(choice)),
  });
}

function likeliest(forms: ReadonlyMap<string, NameForm>): NameForm[] {
  return [...forms.values()]
    .filter((form) => form.weight >= MIN_WEIGHT)
    .sort((left, right) => right.weight - left.weight || (left.text < right.text ? -1 : 1))
    .slice(0, MAX_FORMS);
}
