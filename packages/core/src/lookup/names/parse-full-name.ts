import { classifyTitle } from "../titles/classify-title.ts";
import { GIVEN_NAMES, SURNAMES_OF_KOREA } from "./given-names.ts";
import { foldLetters } from "./letter-spellings.ts";
import {
  ABBREVIATED_TITLES,
  FIRST_OF_TWO_SURNAMES,
  HONORIFIC_NAMES,
  HONORIFICS,
  PARTICLES,
  STARTS_OF_SURNAMES,
  SUFFIX_NAMES,
  SUFFIXES,
} from "./name-words.ts";
import { organizationKey } from "./organization-key.ts";
import { givenNames, isPatronymic, type PersonName, plainName } from "./plain-name.ts";
import { toAscii } from "./transliterate.ts";

/** Longer texts are rejected unread. */
const MAX_TEXT_LENGTH = 400;
/** `(Bob)`, `"Bob"`. */
const NICKNAME = /[("“][^()"“”]*[)"”]/g;
/** What follows a name: a position, a company, a maiden name. */
const TAIL = /\s*[|•].*|\s(?:geb\.|geborene|née|roz\.|z domu)\s.*/s;
const DASH = /\s([-–—])\s+(.*)/s;
const GENERATION = /[\s,]((?:jr|sr|junior|senior|iii?|iv)\.?)(?=[\s,]|$)/i;
/** One letter with a point is an initial. */
const ROMAN_NUMERAL = /^(?:[ivx]|(?:ii|iii|iv|vi{1,3}|ix)\.?)$/i;
/** Surnames before a given name and a patronymic. In Latin letters, `Rabinovich` may be the surname; `Petrovna` is none. */
const SLAVIC_SURNAME = /\p{Script=Cyrillic}|(?:..[oe]va?|sk(?:y|iy|aya|ii)|enko|chuk|yuk)$/iu;
const DAUGHTER = /vna$/i;
/** A noble title before the particle of its surname: `Karl Freiherr von Berg`. */
const NOBLE =
  /^(?:freiherr|freifrau|graf|gräfin|baron|baronin|baronesse|ritter|edler|edle|fürst|fürstin|prinz|prinzessin)$/i;
/** Two surnames of two characters each, as far as they are frequent. */
const COMPOUND_SURNAME =
  /^(?:欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|东方|東方|皇甫|尉迟|公孙|令狐|宇文|慕容|남궁|황보|제갈|사공|선우|서문|독고)/;
/** Frequent Chinese surnames that are no Japanese given names. */
const CHINESE_SURNAME =
  /^[王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫朱马馬胡郭林何高梁郑鄭罗羅宋谢謝唐韩韓曹许許邓鄧萧蕭冯馮曾程蔡彭潘袁于董余苏蘇吕呂魏蒋蔣杜丁沈姜范傅钟鍾卢盧汪戴崔]$/;
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}ー々\s]+$/u;

/**
 * Splits a full name into two parts: `Dr. Anna van der Berg, PhD`, `Berg, Anna van der`, `Gabriel García
 * Márquez`, `Jean DUPONT`. Two names are a first and a last name, also if the first can be a particle: `Di
 * Zhang`, `Van Morrison`.
 * @returns `null` for a text with fewer than two names, and for a noble surname without a first name: `von
 * Neumann`. Never throws.
 */
export function parseFullName(text: string): PersonName | null {
  const name = readFullName(text);
  return name === null ? null : plainName(name);
}

/** The same with initials, patronymic and generational suffix: `John W.`, `Ingram Jr.` */
export function readFullName(text: string): PersonName | null {
  if (text.length > MAX_TEXT_LENGTH) {
    return null;
  }
  const written = text.normalize("NFC").replace(NICKNAME, " ");
  const cut = written.replace(TAIL, "").replace(DASH, withoutJob);
  const name = (wordsOf(cut).length > 1 ? cut : written).trim();
  if (EAST_ASIAN.test(name)) return splitEastAsian(name);
  const parts = name
    .replace(/(?<=\p{Script=Katakana})[・･·](?=\p{Script=Katakana})/gu, " ")
    .split(",")
    .map(wordsOf)
    .filter((words, index, [first = []]) => {
      // `Ma, Do` has no words before the comma but the last name.
      const isTitle = first.length === 1 ? isOnlySuffix : isSuffixOrNumeral;
      return words.length > 0 && (index === 0 || !words.every(isTitle));
    });
  const [before = [], after] = parts;
  const found = after === undefined ? splitInOrder(named(before)) : splitAtComma(named(before), named(after));
  const [, generation] = GENERATION.exec(name) ?? [];
  if (found === null || generation === undefined) return found;
  const { firstName, lastName } = found;
  return `${firstName} ${lastName}`.split(" ").includes(generation)
    ? found
    : { firstName, lastName: `${lastName} ${generation}` };
}

/** What follows a dash is left out only if it is a position or a company: `Anna Müller - Schmidt` is one surname. */
function withoutJob(_: string, dash: string, rest: string): string {
  const { department, seniority } = classifyTitle(rest);
  const isCompany = /(?:^|\s)(?:at|@)\s/.test(rest) || !organizationKey(rest).endsWith("|");
  if (department !== null || seniority !== null || isCompany) return "";
  return dash === "-" && !/\s/.test(rest.trim()) ? `-${rest}` : ` ${rest}`;
}

/** In these scripts the surname is first, unless only the last word is a surname of one character. */
function splitEastAsian(text: string): PersonName | null {
  const [one = "", other, ...more] = text.split(/\s+/);
  if (more.length > 0) return null;
  if (other !== undefined) {
    const isSurname = CHINESE_SURNAME.test(other) || SURNAMES_OF_KOREA.has(other);
    const isTurned =
      isSurname && [...other].length === 1 && [...one].length > 1 && !COMPOUND_SURNAME.test(one);
    return isTurned ? personName([one], [other]) : personName([other], [one]);
  }
  const letters = [...one];
  // A name in kana does not show where the surname ends.
  if (letters.length < 2 || letters.length > 4 || /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(one))
    return null;
  const isLong = COMPOUND_SURNAME.test(one) || (letters.length === 4 && /\p{Script=Han}/u.test(one));
  const end = isLong && letters.length > 2 ? 2 : 1;
  return personName([letters.slice(end).join("")], [letters.slice(0, end).join("")]);
}

/** `Berg, Anna van der` also gives `van der Berg` and `Anna`. */
function splitAtComma(last: string[], first: string[]): PersonName | null {
  // `Smith Jr., John`; `Smith, John Jr.`
  const [surname, given] = [withoutGeneration(last), withoutGeneration(first)];
  let end = given.length;
  while (end > 1 && isParticle(given[end - 1])) {
    end -= 1;
  }
  return personName(given.slice(0, end), [...given.slice(end), ...surname]);
}

function splitInOrder(words: string[]): PersonName | null {
  if (words.length < 2 || isOnlySurname(words)) {
    return null;
  }
  // `Иванов Иван Иванович`
  const [surname = "", given, father] = words;
  const isFather = isPatronymic(father) && !isPatronymic(given) && !isInitial(given ?? "");
  const isSurname = SLAVIC_SURNAME.test(surname) || DAUGHTER.test(father ?? "");
  if (words.length === 3 && isFather && isSurname && !GIVEN_NAMES.slavic.has(foldLetters(surname))) {
    return personName(words.slice(1), [surname]);
  }
  const start = surnameInCapitals(words) ?? surnameAtEnd(words);
  if (start === 0) {
    const end = words.findIndex((word) => !isCapitals(word));
    return personName(words.slice(end), words.slice(0, end));
  }
  const name = personName(words.slice(0, start), words.slice(start));
  // `Ram Prasad V`: a last word of one letter abbreviates the name of the father.
  return name === null && words.length > 2 && isInitial(words.at(-1) ?? "")
    ? splitInOrder(words.slice(0, -1))
    : name;
}

/** Where a surname in capitals begins, at the end of the name or (0) at its start. */
function surnameInCapitals(words: string[]): number | undefined {
  const flags = words.map(isCapitals);
  const count = flags.filter(Boolean).length;
  if (count === 0 || count === words.length) {
    return undefined;
  }
  // `JR Smith` begins with initials.
  if (flags.slice(0, count).every(Boolean) && words.slice(0, count).every((word) => word.length > 2)) {
    return 0;
  }
  let start = words.length - count;
  if (!flags.slice(start).every(Boolean)) {
    return undefined;
  }
  while (start > 1 && isParticle(words[start - 1])) {
    start -= 1;
  }
  return start;
}

function surnameAtEnd(words: string[]): number {
  let start = words.length - 1;
  // `Ortega y Gasset`: the word before the particle belongs to the surname.
  if (start > 2 && /^[ye]$/i.test(words[start - 1] ?? "")) {
    return start - 2;
  }
  while (start > 1 && isParticle(words[start - 1])) {
    start -= 1;
  }
  // `Heijdanus-De Boer`
  while (start > 1 && isParticle(/\p{L}[-‐‑](\S+)$/u.exec(words[start - 1] ?? "")?.[1])) {
    start -= 1;
  }
  const isPlain = start === words.length - 1;
  if (start > 1 && isPlain && FIRST_OF_TWO_SURNAMES.has(toAscii(words[start - 1] ?? ""))) {
    start -= 1;
    while (start > 1 && isParticle(words[start - 1])) {
      start -= 1;
    }
  }
  return start;
}

/** Whether words are a surname with its particles and no first name: `von Neumann`, `van der Berg`, `de la Cruz`. */
function isOnlySurname(words: readonly string[]): boolean {
  const lastParticle = words.length - 2;
  if (!words.slice(0, lastParticle + 1).every(isParticle)) {
    return false;
  }
  // `Von Miller` has a first name.
  return lastParticle === 0
    ? /^(von|.['’]|['’].)$/.test(words[0] ?? "")
    : STARTS_OF_SURNAMES.has(words.slice(0, 2).join(" ").toLowerCase());
}

function personName(first: string[], last: string[]): PersonName | null {
  const firstName = first.join(" ");
  // `Ann S.` has no last name; of two surnames, the second may be abbreviated: `García M.`
  const lastName = last.filter((word, index) => !isInitial(word) || index > 0 || isParticle(word)).join(" ");
  return hasLetter(givenNames(first).join(" ")) && hasLetter(lastName) ? { firstName, lastName } : null;
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(hasLetter);
}

/** Removes honorifics and suffixes; of two words, neither is treated as one. */
function named(words: string[]): string[] {
  let start = 0;
  while (words.length - start > 1 && isHonorific(words[start], words.length - start)) {
    start += 1;
  }
  let end = words.length;
  while (end - start > 2 && isOnlySuffix(words[end - 1] ?? "")) {
    end -= 1;
  }
  return words
    .slice(start, end)
    .filter(
      (word, index, all) =>
        index === 0 || !NOBLE.test(word) || !/^(?:v[ao][nm]|zu[mr]?)$/i.test(all[index + 1] ?? ""),
    );
}

/** @param left number of words from this one on. */
function isHonorific(word = "", left: number): boolean {
  // Transliterated, names of other alphabets resemble titles.
  const plain = /^[\0-\u017f]*$/.test(word) ? toAscii(word).replaceAll(".", "") : "";
  // `Dipl.-Kfm.`
  if (/^dipl-/.test(plain)) return true;
  if (ABBREVIATED_TITLES.has(plain)) return word.includes(".");
  return HONORIFICS.has(plain) && (left > 2 || word.endsWith(".") || !HONORIFIC_NAMES.has(plain));
}

function isOnlySuffix(word: string): boolean {
  return isSuffix(word) && (word.includes(".") || !SUFFIX_NAMES.has(word.toLowerCase()));
}

/** After a comma; `V` alone may be an initial. */
function isSuffixOrNumeral(word: string): boolean {
  return isSuffix(word) || ROMAN_NUMERAL.test(word);
}

function withoutGeneration(words: string[]): string[] {
  const last = words.at(-1) ?? "";
  const isGeneration =
    /^(?:jr|sr|junior|senior)\.?$/i.test(last) || (last.length > 1 && ROMAN_NUMERAL.test(last));
  return words.length > 1 && isGeneration ? words.slice(0, -1) : words;
}

function isSuffix(word: string): boolean {
  return SUFFIXES.has(word.toLowerCase().replaceAll(".", ""));
}

function isParticle(word = ""): boolean {
  return PARTICLES.has(word.toLowerCase().replace("’", "'"));
}

function isInitial(word: string): boolean {
  return /^\p{Lu}\.?$/u.test(word);
}

function isCapitals(word: string): boolean {
  return /\p{Lu}.*\p{Lu}/u.test(word) && !/\p{Ll}/u.test(word) && !word.includes(".");
}

function hasLetter(text: string): boolean {
  return /\p{L}/u.test(text);
}
