import { allFakers, type Faker } from "@faker-js/faker";
import anyAscii from "any-ascii";
import type { Language } from "./language.ts";
import type { Random } from "./random.ts";

/** A person or, without a name, a department, as a site shows it. */
export interface Entry {
  address: string;
  firstName: string | null;
  lastName: string | null;
  position: string | null;
  phone: Phone | null;
  /** The name as the page writes it: with a title, the family name first, in capitals. */
  written: string;
  /** `Berg, Anna`. */
  inverted: string;
}

/** A number as the page writes it, and its digits, with and without the country. */
export interface Phone {
  written: string;
  international: string;
  national: string;
}

const RULES: readonly ((first: string, last: string) => string)[] = [
  (first, last) => `${first}.${last}`,
  (first, last) => `${first}.${last}`,
  (first, last) => `${first}.${last}`,
  (first, last) => `${first.charAt(0)}${last}`,
  (first, last) => `${first.charAt(0)}.${last}`,
  (first) => first,
  (_, last) => last,
  (first, last) => `${first}_${last}`,
  (first, last) => `${first}-${last}`,
  (first, last) => `${last}.${first}`,
  (first, last) => `${first.slice(0, 2)}${last.slice(0, 2)}`,
];

/** Country code, prefix within the country, and numbers without it. */
const PHONES: Readonly<Record<string, readonly [code: string, trunk: string, patterns: readonly string[]]>> =
  {
    AT: ["43", "0", ["1 5## ## ##", "662 8#####"]],
    AU: ["61", "0", ["2 9### ####", "3 9### ####"]],
    BE: ["32", "0", ["2 51# ## ##", "3 23# ## ##"]],
    BR: ["55", "", ["11 3###-####", "21 2###-####"]],
    CH: ["41", "0", ["44 2## ## ##", "31 3## ## ##"]],
    CN: ["86", "0", ["10 65## ####", "21 62## ####"]],
    CZ: ["420", "", ["224 ### ###", "541 ### ###"]],
    DE: ["49", "0", ["30 23######", "89 54####-##", "221 47####", "7071 29-####"]],
    DK: ["45", "", ["33 ## ## ##", "86 1# ## ##"]],
    ES: ["34", "", ["91 4## ## ##", "93 2## ## ##"]],
    FI: ["358", "0", ["9 1912 ####", "40 5## ####"]],
    FR: ["33", "0", ["1 42 ## ## ##", "4 72 ## ## ##"]],
    GB: ["44", "0", ["20 7946 0###", "161 496 0###", "1223 33####"]],
    GR: ["30", "", ["210 3## ####", "2310 2## ###"]],
    HR: ["385", "0", ["1 48## ###", "21 54# ###"]],
    HU: ["36", "06", ["1 3## ####", "62 54####"]],
    IE: ["353", "0", ["1 67# ####", "21 42# ####"]],
    IT: ["39", "", ["02 48## ####", "06 68## ####"]],
    JP: ["81", "0", ["3-35##-####", "6-62##-####"]],
    KR: ["82", "0", ["2-73#-####", "51-74#-####"]],
    LV: ["371", "", ["67 2## ###", "67 0## ###"]],
    MX: ["52", "", ["55 52## ####", "33 36## ####"]],
    NL: ["31", "0", ["20 52# ####", "30 25# ####"]],
    NO: ["47", "", ["22 85 ## ##", "55 58 ## ##"]],
    PL: ["48", "", ["22 82# ## ##", "12 66# ## ##"]],
    PT: ["351", "", ["21 84# ####", "22 50# ####"]],
    RO: ["40", "0", ["21 31# ####", "264 40# ###"]],
    RU: ["7", "8", ["495 93#-##-##", "812 32#-##-##"]],
    SE: ["46", "0", ["8 55# ## ##", "31 78# ## ##"]],
    SI: ["386", "0", ["1 47# ## ##", "2 22# ## ##"]],
    SK: ["421", "0", ["2 59## ####", "55 62# ####"]],
    TR: ["90", "0", ["212 28# ## ##", "312 21# ## ##"]],
    UA: ["380", "0", ["44 23# ## ##", "32 23# ## ##"]],
    US: ["1", "", ["212-42#-####", "415-36#-####"]],
  };

/** People and departments of a site. */
export class People {
  readonly #random: Random;
  readonly #language: Language;
  readonly #country: string;
  readonly #faker: Faker;
  readonly #rule: (typeof RULES)[number];
  readonly #taken = new Set<string>();
  readonly #domain: string;
  /** Whether numbers without a country code are written: only where the top-level domain tells the country. */
  readonly #isNational: boolean;
  readonly #phoneForm: number;

  constructor(random: Random, language: Language, place: Language["places"][number], domain: string) {
    const [tld, country, locale] = place;
    this.#random = random;
    this.#language = language;
    this.#country = country;
    this.#domain = domain;
    this.#faker = fakerFor(locale);
    this.#faker.seed(random.int(0, 2 ** 31));
    this.#rule = random.pick(RULES);
    this.#isNational = tld !== "com" && random.chance(0.6);
    this.#phoneForm = random.int(0, 5);
  }

  /** A person. */
  person(share = { position: 0.9, phone: 0.7, title: 0.2 }): Entry {
    const { firstName, lastName, patronymic } = this.#name();
    const position = this.#random.chance(share.position)
      ? this.#random.pick(this.#language.titles.split("|"))
      : null;
    const phone = this.#random.chance(share.phone) ? this.phone() : null;
    const address = this.#address(firstName, lastName);
    const isFamilyFirst =
      this.#language.isFamilyFirst === true || (patronymic !== null && this.#random.chance(0.6));
    const space = isCharacters(this.#language.code)
      ? this.#random.pick(this.#language.code === "ja" ? [" ", "　"] : ["", " "])
      : " ";
    const names = isFamilyFirst ? [lastName, firstName] : [firstName, lastName];
    if (this.#language.code === "en" && this.#random.chance(0.08))
      names.splice(1, 0, `${this.#random.pick([..."ABCDEFGHJKLMNPRSTW"])}.`);
    if (patronymic !== null) names.splice(isFamilyFirst ? 2 : 1, 0, patronymic);
    let written = names.join(space);
    if (this.#language.code === "fr" && this.#random.chance(0.25))
      written = written.replace(lastName, lastName.toUpperCase());
    const honorifics = this.#language.honorifics.split("|").filter((title) => title !== "");
    if (honorifics.length > 0 && this.#random.chance(share.title))
      written = `${this.#random.pick(honorifics)} ${written}`;
    const degrees = this.#language.degrees;
    if (degrees !== undefined && this.#random.chance(share.title / 2))
      written = `${written}, ${this.#random.pick(degrees.split("|"))}`;
    const given = patronymic === null ? firstName : `${firstName} ${patronymic}`;
    return { address, firstName, lastName, position, phone, written, inverted: `${lastName}, ${given}` };
  }

  /** A department: its address belongs to no person. */
  department(local?: string): Entry {
    const name = this.#random.pick(this.#language.departments.split("|"));
    const role = local ?? this.#random.pick(["info", "office", "sales", "support", "contact", "service"]);
    const phone = this.#random.chance(0.6) ? this.phone() : null;
    const rest = { position: null, phone, written: name, inverted: name };
    return { address: `${role}@${this.#domain}`, firstName: null, lastName: null, ...rest };
  }

  phone(): Phone {
    const [code, trunk, patterns] = PHONES[this.#country] ?? ["1", "", ["212-42#-####"]];
    const number = this.#random.digits(this.#random.pick(patterns));
    const digits = number.replace(/\D/g, "");
    const international = `${code}${digits}`;
    const area = /^\d+/.exec(number)?.[0] ?? "";
    const rest = number.slice(area.length).replace(/^[ -]/, "");
    const inCountry = [
      `${trunk}${number}`,
      `(${trunk}${area}) ${rest}`,
      trunk === "" ? number : `${trunk}${area}/${rest}`,
      trunk === "0" ? `${trunk}${area} - ${rest}` : number,
    ];
    const abroad = [
      `+${code} ${number}`,
      `+${code} ${number.replace(/[ -]/g, " ")}`,
      trunk === "0" ? `+${code} (0)${number}` : `+${code} ${number}`,
      `00${code} ${number}`,
      `+${international}`,
      `+${code} (${area}) ${rest}`,
    ];
    const written = this.#isNational
      ? inCountry[this.#phoneForm % inCountry.length]
      : abroad[this.#phoneForm];
    return { written: written ?? number, international, national: `${trunk}${digits}` };
  }

  #name() {
    const { person } = this.#faker;
    const sex = this.#random.pick(["female", "male"] as const);
    let firstName = person.firstName(sex);
    let lastName = person.lastName(sex);
    const { code, isDouble = false, particles } = this.#language;
    // Elsewhere, a reader could take the first of two for a given name.
    if (!isDouble && /^\p{Lu}/u.test(lastName)) lastName = lastName.replace(/ (?=\p{L})/gu, "-");
    if (isDouble) lastName = twoSurnames(lastName);
    const isSlavic = code === "ru" || code === "uk";
    const patronymic = isSlavic && this.#random.chance(0.6) ? person.middleName(sex) : null;
    const drawn = this.#random.float();
    if (isCharacters(code)) return { firstName, lastName, patronymic };
    if (drawn < 0.05 && !/[ -]/.test(lastName)) lastName = `${lastName}-${lastWord(person.lastName(sex))}`;
    else if (isDouble && drawn < 0.45 && !lastName.includes(" "))
      lastName = `${lastName} ${lastWord(person.lastName(sex))}`;
    else if (drawn > 0.88 && particles !== undefined && !lastName.includes(" "))
      lastName = `${this.#random.pick(particles.split("|"))} ${lastName}`;
    else if (drawn > 0.8 && drawn < 0.85 && !isSlavic && !/[ -]/.test(firstName))
      firstName = `${firstName}-${firstWord(person.firstName(sex))}`;
    return { firstName, lastName, patronymic };
  }

  #address(firstName: string, lastName: string): string {
    const [first, last] = [spelling(firstName), spelling(lastName)];
    const stem = this.#rule(first, last).replace(/[^a-z0-9._-]/g, "");
    let local =
      /^[a-z]{2}/.test(stem) && !ROLES.test(stem) ? stem : `${first}.${last}`.replace(/[^a-z0-9.]/g, "");
    while (this.#taken.has(local)) local = `${local}${this.#random.int(2, 9)}`;
    this.#taken.add(local);
    return `${local}@${this.#domain}`;
  }
}

const ROLES = /^(?:info|office|sales|support|contact|service|press|team|mail|web|admin)$/;

function fakerFor(locale: string): Faker {
  const faker = Object.entries(allFakers).find(([name]) => name === locale)?.[1];
  if (faker === undefined) throw new Error(`No names for ${locale}`);
  return faker;
}

function spelling(name: string): string {
  const letters: Record<string, string> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa", æ: "ae", ß: "ss" };
  const plain = name.toLowerCase().replace(/[äöüøåæß]/g, (letter) => letters[letter] ?? letter);
  return anyAscii(plain)
    .toLowerCase()
    .replace(/[^a-z-]/g, "");
}

/** Two at most, unless there are particles, each with a capital letter. */
function twoSurnames(name: string): string {
  if (/ (?:de|del|da|dos|das|do|la|los|las|y|e) /.test(` ${name} `)) return name;
  const [first = "", ...others] = name.split(" ");
  const last = others.at(-1);
  return last === undefined ? first : `${first} ${last.charAt(0).toUpperCase()}${last.slice(1)}`;
}

function firstWord(name: string): string {
  return name.replace(/[ -].*/, "");
}

function lastWord(name: string): string {
  return name.replace(/.*[ -]/, "");
}

/** Whether names are written in Han, kana or Hangul. */
function isCharacters(code: string): boolean {
  return code === "ja" || code === "zh" || code === "ko";
}
