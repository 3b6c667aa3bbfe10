import { allFakers, type Faker } from "@faker-js/faker";
import anyAscii from "any-ascii";

/** A person, and the part before the `@` of the person's address. */
export interface Employee {
  local: string;
  firstName: string;
  lastName: string;
  kind: NameKind;
}

export const NAME_KINDS = [
  "plain ASCII",
  "other diacritics",
  "ä ö ü ø å æ ß",
  "hyphenated surname",
  "two surnames",
  "two first names",
  "particle",
] as const;
export type NameKind = (typeof NAME_KINDS)[number];

/** A company: the addresses that are known, and people whose addresses are asked for. */
export interface Company {
  known: Employee[];
  asked: Employee[];
}

const LOCALES = [
  ...(["cs_CZ", "da", "de", "de_AT", "en", "en_GB", "es", "fi", "fr", "hr"] as const),
  ...(["hu", "it", "nb_NO", "nl", "pl", "pt_BR", "ro", "sk", "sv", "tr"] as const),
];
/** Their surnames are double in the data, or by custom. */
const TWO_SURNAMES: readonly string[] = ["es", "pt_BR"];
const PARTICLES: Readonly<Record<string, readonly string[]>> = {
  nl: ["van", "van der", "de", "van den", "ter"],
  de: ["von", "von der"],
  de_AT: ["von"],
  fr: ["de", "du", "de la"],
  it: ["di", "de", "della"],
  es: ["de", "de la", "del"],
  pt_BR: ["da", "dos", "de"],
  sv: ["af", "von"],
};

type Rule = (first: string, last: string) => string;
/** Each with its weight. The weights differ from the base rates of the finder. */
const RULES: readonly (readonly [Rule, number])[] = [
  [(first, last) => `${first}.${last}`, 40],
  [(first, last) => `${first.charAt(0)}${last}`, 18],
  [(first) => first, 9],
  [(first, last) => `${first.charAt(0)}.${last}`, 9],
  [(first, last) => `${first}${last}`, 6],
  [(first, last) => `${first}_${last}`, 4],
  [(first, last) => `${last}.${first}`, 4],
  [(first, last) => `${first}${last.charAt(0)}`, 3],
  [(first, last) => `${last}${first.charAt(0)}`, 2],
  [(_, last) => last, 2],
  [(first, last) => `${first}-${last}`, 1],
  [(first, last) => `${first.charAt(0)}${last}`.slice(0, 8), 2],
];
const NOISE = 0.05;

/** Companies in 20 locales, always the same for a seed: of each locale so many, with 3 to 20 known addresses. */
export function* generatedCompanies(seed: number, perLocale: number, asked: number): Generator<Company> {
  for (const [index, locale] of LOCALES.entries()) {
    const faker = allFakers[locale];
    faker.seed(seed + index);
    for (let company = 0; company < perLocale; company += 1) {
      const employee = employeesOf(faker, locale);
      const known = Array.from({ length: faker.number.int({ min: 3, max: 20 }) }, employee);
      yield { known, asked: Array.from({ length: asked }, () => strangerTo(known, employee)) };
    }
  }
}

function strangerTo(known: readonly Employee[], employee: () => Employee): Employee {
  for (;;) {
    const found = employee();
    const isKnown = known.some(
      ({ firstName, lastName }) => firstName === found.firstName && lastName === found.lastName,
    );
    if (!isKnown) return found;
  }
}

function employeesOf(faker: Faker, locale: string): () => Employee {
  const one = <Item>(items: readonly Item[]) => faker.helpers.arrayElement(items);
  const rule = () => faker.helpers.weightedArrayElement(RULES.map(([value, weight]) => ({ value, weight })));
  const number = faker.helpers.weightedArrayElement([
    { value: 1, weight: 65 },
    { value: 2, weight: 26 },
    { value: 3, weight: 9 },
  ]);
  // One main pattern; the others are exceptions of a department or a year.
  const rules = Array.from({ length: number }, (_, index) => ({
    value: rule(),
    weight: index === 0 ? 1 : 0.05 + 0.35 * faker.number.float(),
  }));
  const habits = {
    letters: one([twoLetters, anyAscii]),
    double: one([firstWord, lastWord, joined, hyphenated]),
    given: one([firstWord, firstWord, joined, hyphenated]),
    particle: one([joined, joined, lastWord, hyphenated]),
  };
  return () => {
    const { firstName, lastName, isParticle } = nameIn(faker, locale);
    const kind = kindOf(firstName, lastName, isParticle);
    const spell = (name: string) =>
      anyAscii(habits.letters(name.normalize("NFC").toLowerCase())).replace(/['’.]/g, "");
    const first = habits.given(spell(firstName));
    const surname = spell(lastName);
    const last = isParticle ? habits.particle(surname) : habits.double(surname);
    const isNoise = faker.number.float() < NOISE;
    const form = isNoise ? rule() : faker.helpers.weightedArrayElement(rules);
    const local = isNoise && faker.datatype.boolean() ? nickname(faker, first, last) : form(first, last);
    return { firstName, lastName, local: local.toLowerCase().replace(/[^a-z0-9._-]/g, ""), kind };
  };
}

function nickname(faker: Faker, first: string, last: string): string {
  const letter = faker.string.alpha({ length: 1, casing: "lower" });
  return faker.helpers.arrayElement([
    `${first.slice(0, 3)}y`,
    `${first}.${letter}.${last}`,
    `${first.slice(0, 2)}${last.slice(0, 2)}`,
    `${first}.${last}${faker.number.int({ min: 2, max: 9 })}x`,
  ]);
}

function nameIn(faker: Faker, locale: string) {
  const { person } = faker;
  let firstName = person.firstName();
  let lastName = person.lastName();
  let isParticle = /^\p{Ll}/u.test(lastName) && lastName.includes(" ");
  const particles = PARTICLES[locale];
  const drawn = faker.number.float();
  if (drawn < 0.04) {
    lastName = `${lastName.split(" ").at(-1)}-${person.lastName().split(" ").at(-1)}`;
    isParticle = false;
  } else if (drawn < (TWO_SURNAMES.includes(locale) ? 0.35 : 0.06) && !lastName.includes(" ")) {
    lastName = `${lastName} ${person.lastName().split(" ").at(-1)}`;
  } else if (drawn > 0.9 && particles !== undefined && !lastName.includes(" ")) {
    lastName = `${faker.helpers.arrayElement(particles)} ${lastName}`;
    isParticle = true;
  } else if (drawn > 0.8 && drawn < 0.86 && !firstName.includes(" ")) {
    firstName = `${firstName}${faker.helpers.arrayElement([" ", "-"])}${person.firstName()}`;
  }
  return { firstName, lastName, isParticle };
}

function kindOf(firstName: string, lastName: string, isParticle: boolean): NameKind {
  if (isParticle) return "particle";
  if (/\p{L}-\p{L}/u.test(lastName)) return "hyphenated surname";
  if (lastName.includes(" ")) return "two surnames";
  if (/[ -]/.test(firstName)) return "two first names";
  const name = `${firstName}${lastName}`.normalize("NFC").toLowerCase();
  if (/[äöüøåæß]/.test(name)) return "ä ö ü ø å æ ß";
  return /[^a-z'’.]/.test(name) ? "other diacritics" : "plain ASCII";
}

function twoLetters(name: string): string {
  const letters: Record<string, string> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa", æ: "ae", ß: "ss" };
  return name.replace(/[äöüøåæß]/g, (letter) => letters[letter] ?? letter);
}

function firstWord(name: string): string {
  return name.replace(/[ -].*/, "");
}

function lastWord(name: string): string {
  return name.replace(/.*[ -]/, "");
}

function joined(name: string): string {
  return name.replace(/[ -]/g, "");
}

function hyphenated(name: string): string {
  return name.replace(/ /g, "-");
}
