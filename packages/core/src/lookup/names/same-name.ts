import { areOfOneGroup, GIVEN_NAMES, KOREAN_GIVEN, SURNAMES_OF_KOREA } from "./given-names.ts";
import { alphabetNamed, areSpellings, europeanAlphabet, isSpelling } from "./letter-spellings.ts";
import { haveSameFirstSurname, nameKey } from "./name-key.ts";
import { type Part, partOf, skeletonOf } from "./name-part.ts";
import { normaliseName } from "./normalise-name.ts";
import { omittedParts, type PersonName, plainName } from "./plain-name.ts";
import { hasUsualSpelling } from "./transliterate.ts";

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
  return areContrary(one, other) ? null : compareParts(partsOf(one), partsOf(other));
}

/** Whether names have different initials, patronymics or generational suffixes. One that has none may be any of them. */
export function areContrary(one: PersonName, other: PersonName): boolean {
  const [known, sought] = [omittedParts(one), omittedParts(other)];
  const generations = new Set([known.generation, sought.generation].filter((each) => each !== null));
  return (
    generations.size > 1 ||
    known.middle.some((word, at) => {
      const otherWord = sought.middle[at];
      return otherWord !== undefined && !areSameMiddle(partOf(word), partOf(otherWord));
    })
  );
}

/** Across scripts only consonants are compared, because `Ю` may be `Y`, `I` or `J`. */
function areSameMiddle(one: Part, other: Part): boolean {
  const isInitial = one.written.length === 1 || other.written.length === 1;
  const areOfOneScript = one.script === other.script;
  if (!isInitial && !areOfOneScript) return spellsPart(one, other, false);
  if (!isInitial && one.script === "latin")
    return isExact(one, other) || spellsSlavic(one.latin, other.latin);
  if (areOfOneScript) {
    const hasSameConsonants = isInitial || skeletonOf(one) === skeletonOf(other);
    return hasSameConsonants && one.plain.charAt(0) === other.plain.charAt(0);
  }
  const [letter, otherLetter] = [skeletonOf(one).charAt(0), skeletonOf(other).charAt(0)];
  return letter === "" || otherLetter === "" || letter === otherLetter;
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
 * The contacts with a name, at most 10: those with this spelling if there are any, otherwise those with another
 * usual spelling, otherwise those of whose two surnames only the first is given: `García` for `García Márquez`, or
 * the reverse. None if these may be several people. Contacts with the same initials, patronymic and generational
 * suffix come first, those with different ones are left out; otherwise they keep their order.
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
    if (haveSameFirstSurname(name, { firstName, lastName }) && !areContrary(name, { firstName, lastName })) {
      partial.push(contact);
      longer.add(nameKey(name.firstName, name.lastName));
    }
    const known = partsOf(name);
    const key = keyOf(known);
    // Different keys save most comparisons. The empty key is that of a transliteration.
    if (key === null || (key !== ownKey && key !== "" && ownKey !== "" && !keys.has(key))) continue;
    const relation = compareParts(sought, known);
    if (relation === null || areContrary(name, { firstName, lastName })) continue;
    if (relation === "exact") exact.push(contact);
    if (relation === "spelling") {
      spelled.push(contact);
      const isUnsure = !hasUsualSpelling(contact.firstName + contact.lastName);
      names.add(
        `${isUnsure ? known.map(({ written }) => written) : nameKey(contact.firstName, contact.lastName)}`,
      );
    }
  }
  const whole = wholeKey(firstName, lastName);
  const rankOf = (contact: C) =>
    wholeKey(contact.firstName ?? "", contact.lastName ?? "") === whole ? 0 : 1;
  const first = (found: C[]) => found.sort((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_NAMESAKES);
  if (exact.length > 0) return first(exact);
  if (spelled.length > 0) return names.size > 1 ? [] : first(spelled);
  return longer.size > 1 ? [] : first(partial);
}

/** A key with initials, patronymic and generational suffix. */
function wholeKey(firstName: string, lastName: string): string {
  const { middle, generation } = omittedParts({ firstName, lastName });
  return normaliseName(`${middle.join("")} ${generation ?? ""}`);
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
      : isSpelling(other.latin, written.normalize("NFD"), alphabetNamed("korean"));
  }
  if (script === "european") {
    const groups = isGiven ? [GIVEN_NAMES.slavic, GIVEN_NAMES.greek] : [];
    return (
      isSpelling(other.latin, written, europeanAlphabet(written) ?? alphabetNamed("russian")) ||
      groups.some((each) => areOfOneGroup(each, written, other.latin))
    );
  }
  // Without vowels, common names resemble others: محمد and محمود.
  const groups = GIVEN_NAMES[script];
  return groups.has(written)
    ? areOfOneGroup(groups, written, other.latin)
    : isSpelling(other.latin, written, alphabetNamed(script), false);
}

type Parts = readonly [first: Part, last: Part];

/** Whether names in Latin letters are usual spellings of one name in another script. */
function haveUsualSpellings([first, last]: Parts, [otherFirst, otherLast]: Parts): boolean {
  const [given, otherGiven] = [first.latin, otherFirst.latin];
  const [surname, otherSurname] = [last.latin, otherLast.latin];
  const isSameGiven = isExact(first, otherFirst);
  const isSameSurname = isExact(last, otherLast);
  const areOf = (group: keyof typeof GIVEN_NAMES) => areOfOneGroup(GIVEN_NAMES[group], given, otherGiven);
  if (SLAVIC_SURNAME.test(surname) || SLAVIC_SURNAME.test(otherSurname)) {
    return (
      (isSameGiven || areOf("slavic") || spellsSlavic(given, otherGiven)) &&
      (isSameSurname || spellsSlavic(surname, otherSurname))
    );
  }
  if (GREEK_SURNAME.test(surname) || GREEK_SURNAME.test(otherSurname)) {
    return (
      (isSameGiven || areOf("greek") || areSpellings(given, otherGiven, alphabetNamed("greek"))) &&
      (isSameSurname || areSpellings(surname, otherSurname, alphabetNamed("greek")))
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
    areSpellings(given, otherGiven, alphabetNamed("russian"))
  );
}

function spellsSlavic(one: string, other: string): boolean {
  return [alphabetNamed("russian"), alphabetNamed("ukrainian")].some((alphabet) =>
    areSpellings(one, other, alphabet),
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
