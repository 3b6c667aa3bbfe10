import { areOfOneGroup, GIVEN_NAMES, KOREAN_GIVEN, SURNAMES_OF_KOREA } from "./given-names.ts";
import {
  ALPHABETS,
  areSpellings,
  europeanAlphabet,
  foldLetters,
  isSpelling,
  latinLetters,
} from "./letter-spellings.ts";
import { PARTICLES } from "./name-words.ts";
import { normaliseName } from "./normalise-name.ts";
import { type PersonName, plainName } from "./plain-name.ts";
import { hasUsualSpelling, spellings } from "./transliterate.ts";

/** Maximum number of contacts that are returned for one name. */
const MAX_NAMESAKES = 10;

/** Surnames of transliterated Cyrillic, and of Greek. Others in Latin letters have one spelling. */
const SLAVIC_SURNAME =
  /(?:[a-z][oe](?:v|w|ff)a?|sk(?:y|i|iy|yy|ii|yi|ij|aya|aia|aja|a)|(?:en|[sc]h)ko|[cz]h?uk|[iy]uk|[vk][iy]ch|(?:k|[cskz]h|ts)[iy]na?)$/;
const GREEK_SURNAME = /(?:poul(?:os|ou)|[ia]d[ie]s|idou|akis|oglou|atos)$/;
/** A transliterated first name: a surname such as Smith does not show it. */
const TRANSLITERATED = /y|ii|kh|zh|ksandr|^ks|ei$/;

/**
 * How two names are the same: `exact` in one spelling but for diacritics, as compared by {@link normaliseName};
 * `spelling` in usual spellings of one name, such as `Юлия`, `Yuliya` and `Julia`. `null` if they differ.
 */
export function compareNames(one: PersonName, other: PersonName): "exact" | "spelling" | null {
  return compareParts(partsOf(one), partsOf(other));
}

function partsOf(name: PersonName): Parts {
  const { firstName, lastName } = plainName(name);
  return [partOf(firstName), partOf(lastName)];
}

function compareParts([first, last]: Parts, [otherFirst, otherLast]: Parts): "exact" | "spelling" | null {
  const areExact = [isExact(first, otherFirst), isExact(last, otherLast)];
  if (areExact.every(Boolean)) return "exact";
  if ([first, otherFirst, last, otherLast].every(({ script }) => script === "latin")) {
    return haveUsualSpellings([first, last], [otherFirst, otherLast]) ? "spelling" : null;
  }
  return (areExact[0] === true || spellsPart(first, otherFirst, true)) &&
    (areExact[1] === true || spellsPart(last, otherLast, false))
    ? "spelling"
    : null;
}

/**
 * A key that is equal for all usual spellings of a name, and for some other names: compare them by {@link
 * compareNames}. Empty if a name has no usual spellings in Latin letters but its transliteration, which {@link
 * normaliseName} compares. `null` if either name has no letters.
 */
export function spellingKey(firstName: string, lastName: string): string | null {
  return keyOf(partsOf({ firstName, lastName }));
}

function keyOf([first, last]: Parts): string | null {
  if (first.latin === "" || last.latin === "") return null;
  if (first.script === "other" || last.script === "other") return "";
  const mark = first.script === "latin" && last.script === "latin" ? "" : OTHER_SCRIPT;
  const isKorean = last.script === "korean" || KOREAN_GIVEN.test(first.latin);
  const surname = SURNAMES_OF_KOREA.get(last.written);
  return `${mark}${skeletonOf(first)} ${isKorean && surname !== undefined ? [...surname] : skeletonOf(last)}`;
}

/** The {@link spellingKey} of all names that may be a usual spelling of this one. */
export function spellingKeys(firstName: string, lastName: string): string[] {
  const key = spellingKey(firstName, lastName)?.replace(OTHER_SCRIPT, "");
  if (key === undefined || key === "") return [];
  const [first, last] = partsOf({ firstName, lastName });
  const isPlain = first.script === "latin" && last.script === "latin" && !canVary(first.latin, last.latin);
  return isPlain ? [OTHER_SCRIPT + key] : [key, OTHER_SCRIPT + key];
}

/** Begins the key of a name in another script than Latin. */
const OTHER_SCRIPT = "~";

/**
 * The contacts with a name, at most 10, in their order: those with this spelling if there are any, otherwise
 * those with another usual spelling, otherwise those of whose two surnames only the first is given: `García` for
 * `García Márquez`, or the reverse. None if these may be several people.
 */
export function namesakes<C extends { firstName: string | null; lastName: string | null }>(
  contacts: Iterable<C>,
  firstName: string,
  lastName: string,
): C[] {
  const sought = partsOf({ firstName, lastName });
  const hasLetters = nameKey(firstName, lastName) !== null;
  const keys = new Set(spellingKeys(firstName, lastName));
  const ownKey = keyOf(sought);
  const [exact, spelled, partial]: [C[], C[], C[]] = [[], [], []];
  const names = new Set<string>();
  const longer = new Set<string | null>();
  for (const contact of hasLetters ? contacts : []) {
    if (contact.firstName === null || contact.lastName === null) continue;
    const name = { firstName: contact.firstName, lastName: contact.lastName };
    if (haveSameFirstSurname(name, { firstName, lastName })) {
      partial.push(contact);
      longer.add(nameKey(name.firstName, name.lastName));
    }
    const known = partsOf(name);
    const key = keyOf(known);
    // Different keys save most comparisons. The empty key is that of a transliteration.
    if (key === null || (key !== ownKey && key !== "" && ownKey !== "" && !keys.has(key))) continue;
    const relation = compareParts(sought, known);
    if (relation === "exact") exact.push(contact);
    if (relation === "spelling") {
      spelled.push(contact);
      const isUnsure = !hasUsualSpelling(contact.firstName + contact.lastName);
      names.add(
        `${isUnsure ? known.map(({ written }) => written) : nameKey(contact.firstName, contact.lastName)}`,
      );
    }
  }
  if (exact.length > 0) return exact.slice(0, MAX_NAMESAKES);
  if (spelled.length > 0) return names.size > 1 ? [] : spelled.slice(0, MAX_NAMESAKES);
  return longer.size > 1 ? [] : partial.slice(0, MAX_NAMESAKES);
}

/** Shorter surnames begin too many others. */
const MIN_SURNAME_LENGTH = 3;

/** The first of several surnames; `null` for a single one, and for one that begins with a particle. */
export function firstSurname(lastName: string): string | null {
  const [first = "", second] = plainName({ firstName: "", lastName }).lastName.split(/\s+/);
  const isSurname = first.length >= MIN_SURNAME_LENGTH && !PARTICLES.has(first.toLowerCase());
  return second !== undefined && isSurname ? first : null;
}

/** Whether one name has a further surname after the one of the other. */
function haveSameFirstSurname(one: PersonName, other: PersonName): boolean {
  const [key, otherKey] = [one, other].map(({ firstName, lastName }) => nameKey(firstName, lastName));
  const shortened = ({ firstName, lastName }: PersonName) => nameKey(firstName, firstSurname(lastName) ?? "");
  return key !== null && otherKey !== null && (shortened(one) === otherKey || shortened(other) === key);
}

/** The normalised key by which a person's name is found; `null` if either name has no letters. */
export function nameKey(firstName: string, lastName: string): string | null {
  const plain = plainName({ firstName, lastName });
  const [first, last] = [normaliseName(plain.firstName), normaliseName(plain.lastName)];
  return first === "" || last === "" ? null : `${first} ${last}`;
}

/** Scripts by what is known of their spelling in Latin letters. */
type Script = "latin" | "european" | "arabic" | "hebrew" | "korean" | "other";

interface Part {
  script: Script;
  name: string;
  /** Letters in the original script. */
  written: string;
  /** Letters `a` to `z`: `š` is `sh`. */
  latin: string;
  /** The same, but `š` is `s`. */
  plain: string;
}

function partOf(name: string): Part {
  if (/^[\0-\x7f]*$/.test(name)) {
    const latin = name.toLowerCase().replace(/[^a-z]/g, "");
    return { script: "latin", name, written: latin, latin, plain: latin };
  }
  const written = foldLetters(name).replace(/[^\p{L}\p{M}]/gu, "");
  const [latin, plain] = [latinLetters(name), latinLetters(name.normalize("NFD").replace(/\u030c/g, ""))];
  return { script: scriptOf(written), name, written, latin, plain };
}

function scriptOf(written: string): Script {
  if (/\p{Script=Arabic}/u.test(written)) return "arabic";
  if (/\p{Script=Hebrew}/u.test(written)) return "hebrew";
  if (/\p{Script=Hangul}/u.test(written)) return "korean";
  if (/(?!\p{Script=Latin}|\p{Script=Common})\p{L}/u.test(written)) {
    return europeanAlphabet(written) === null ? "other" : "european";
  }
  return "latin";
}

function isExact(one: Part, other: Part): boolean {
  if (one.script !== other.script || one.written === "") return false;
  if (one.written === other.written) return true;
  return ["latin", "european"].includes(one.script) && normaliseName(one.name) === normaliseName(other.name);
}

/** Whether parts, of which at most one is in Latin letters, are usual spellings of one. */
function spellsPart(one: Part, other: Part, isGiven: boolean): boolean {
  if (other.script !== "latin") {
    const isTranslation = isGiven && areOfOneGroup(GIVEN_NAMES.slavic, one.written, other.written);
    return one.script === "latin" ? spellsPart(other, one, isGiven) : isTranslation;
  }
  const { script, written } = one;
  if (script === "latin") return false;
  if (script === "other") return normaliseName(one.name) === normaliseName(other.name);
  if (script === "korean") {
    return !isGiven && SURNAMES_OF_KOREA.has(written)
      ? areOfOneGroup(SURNAMES_OF_KOREA, written, other.latin)
      : isSpelling(other.latin, written.normalize("NFD"), ALPHABETS.korean);
  }
  if (script === "european") {
    const groups = isGiven ? [GIVEN_NAMES.slavic, GIVEN_NAMES.greek] : [];
    return (
      isSpelling(other.latin, written, europeanAlphabet(written) ?? ALPHABETS.russian) ||
      groups.some((each) => areOfOneGroup(each, written, other.latin))
    );
  }
  // Without vowels, common names resemble others: محمد and محمود.
  const groups = GIVEN_NAMES[script];
  return groups.has(written)
    ? areOfOneGroup(groups, written, other.latin)
    : isSpelling(other.latin, written, ALPHABETS[script], false);
}

type Parts = readonly [first: Part, last: Part];

/** Whether names in Latin letters are usual spellings of one name in another script. */
function haveUsualSpellings([first, last]: Parts, [otherFirst, otherLast]: Parts): boolean {
  const [given, otherGiven] = [first.latin, otherFirst.latin];
  const [surname, otherSurname] = [last.latin, otherLast.latin];
  const isSameGiven = isExact(first, otherFirst);
  const isSameSurname = isExact(last, otherLast);
  const spells = (one: string, other: string, languages: readonly ("russian" | "ukrainian" | "greek")[]) =>
    languages.some((language) => areSpellings(one, other, ALPHABETS[language]));
  const areOf = (group: keyof typeof GIVEN_NAMES) => areOfOneGroup(GIVEN_NAMES[group], given, otherGiven);
  const eastern = ["russian", "ukrainian"] as const;
  if (SLAVIC_SURNAME.test(surname) || SLAVIC_SURNAME.test(otherSurname)) {
    return (
      (isSameGiven || areOf("slavic") || spells(given, otherGiven, eastern)) &&
      (isSameSurname || spells(surname, otherSurname, eastern))
    );
  }
  if (GREEK_SURNAME.test(surname) || GREEK_SURNAME.test(otherSurname)) {
    return (
      (isSameGiven || areOf("greek") || spells(given, otherGiven, ["greek"])) &&
      (isSameSurname || spells(surname, otherSurname, ["greek"]))
    );
  }
  if (KOREAN_GIVEN.test(given) && isSameGiven) {
    return areOfOneGroup(SURNAMES_OF_KOREA, surname, otherSurname);
  }
  if (GIVEN_NAMES.arabic.has(given) && GIVEN_NAMES.arabic.has(otherGiven)) {
    const isSameFamily =
      areOfOneGroup(GIVEN_NAMES.arabic, surname, otherSurname) ||
      articled(surname) === articled(otherSurname);
    return (isSameGiven || areOf("arabic")) && (isSameSurname || isSameFamily);
  }
  return (
    isSameSurname &&
    [given, otherGiven].some((each) => TRANSLITERATED.test(each) && GIVEN_NAMES.slavic.has(each)) &&
    spells(given, otherGiven, ["russian"])
  );
}

/** Whether a name in Latin letters can have other usual spellings. */
function canVary(given: string, surname: string): boolean {
  return (
    SLAVIC_SURNAME.test(surname) ||
    GREEK_SURNAME.test(surname) ||
    GIVEN_NAMES.slavic.has(given) ||
    GIVEN_NAMES.arabic.has(given) ||
    (SURNAMES_OF_KOREA.has(surname) && KOREAN_GIVEN.test(given))
  );
}

/** `elkhatib` as `alkhatib`. */
function articled(surname: string): string {
  return surname.replace(/^[eu]l(?=.{3})/, "al");
}

/** The consonants that all usual spellings of a name have. */
function skeletonOf(part: Part): string {
  return consonantLetters(part)
    .replace(/ph/g, "f")
    .replace(/x/g, "ks")
    .replace(/chtch|sc?ht/g, "s")
    .replace(/t+sch|t+[sz]|t+(?=c)|dzh?|(?:ff?|s+)$/g, "")
    .replace(/n(?=[gkh])|^n(?=t)|m(?=[pb])/g, "")
    .replace(/[^bpdtflmnrsz]/g, "")
    .replace(/[bf]/g, "p")
    .replace(/d/g, "t")
    .replace(/z/g, "s")
    .replace(/(.)\1+/g, "$1");
}

function consonantLetters({ script, written, plain }: Part): string {
  if (/\p{Script=Greek}/u.test(written)) return latinLetters(spellings(written)[0]?.text ?? "");
  if (script !== "arabic" && script !== "hebrew") return plain;
  // A vowel may stand between any two letters. Hebrew writes v and b alike; v inside a name is more frequent.
  return [...written.replace(/(?!^)ב/g, "")].map(latinLetters).join("a");
}
