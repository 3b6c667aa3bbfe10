import { readFileSync } from "node:fs";

const WORDS = new URL("../../data/refusal-words.json", import.meta.url);
/** Lists of words, separated by `|`. Stems are compared after {@link foldText}. Signs are of scripts without spaces. */
const LISTS: Record<string, string[]> = JSON.parse(readFileSync(WORDS, "utf8"));
/** Letters that have no decomposition in Unicode. */
const LETTERS = new Map(Object.entries({ ß: "ss", ø: "o", ł: "l", đ: "d", ı: "i", æ: "ae", œ: "oe" }));

/** Lower case without accents. */
export function foldText(text: string): string {
  const letters = text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  return letters.replace(/[ßøłđıæœ]/g, (letter) => LETTERS.get(letter) ?? letter);
}

const stems = (list: string) => foldText(LISTS[list]?.join("|") ?? "");
const word = (list: string, ending: string) =>
  new RegExp(`(?<!\\p{L})(?:${stems(list)})${ending}(?!\\p{L})|${stems(`${list}Signs`)}`, "gu");

/** The sender, its address, the return address, the originating host, in other languages than English. */
export const FOREIGN_SENDER = new RegExp(stems("sender"), "u");
const RECIPIENTS = word("recipient", "\\p{L}{0,4}");
const UNKNOWNS = word("unknown", "\\p{L}{0,4}");
const FILLINGS = word("filling", "");
const wordSet = (list: string) => new Set(LISTS[list]?.join("|").split("|"));
const ENGLISH_RECIPIENTS = wordSet("englishRecipient");
const ENGLISH_FILLINGS = wordSet("englishFilling");
const ENGLISH_STATES = wordSet("englishState");

const isKnownWord = (one: string) => ENGLISH_RECIPIENTS.has(one) || ENGLISH_FILLINGS.has(one);

/** Whether a name is a word without which refusals are not understood. */
export function isWordOfRefusals(name: string): boolean {
  return isKnownWord(name) || ENGLISH_STATES.has(name);
}

/** Matches a text in another language than English whose every word is understood, and which says that a recipient is unknown. */
export const FOREIGN_UNKNOWN = {
  test(text: string): boolean {
    const words = withoutIds(text);
    const others = words.replace(RECIPIENTS, " ");
    const rest = others.replace(UNKNOWNS, " ");
    return words !== others && others !== rest && !/\p{L}/u.test(rest.replace(FILLINGS, " "));
  },
};

/** What may stand around a denial: the command, a server's tag, a table, advice about spelling, where to read more. */
const PHRASES = new RegExp(`(?<!\\p{L})(?:${LISTS.englishPhrase?.join("|")})(?!\\p{L})`, "gu");

/**
 * Whether every word of a text is understood, beside those that match `denials`. What their groups match is no part of
 * the denial.
 */
export function isUnderstood(text: string, denials: readonly RegExp[] = []): boolean {
  let rest = withoutIds(text);
  for (const known of [PHRASES, ...denials, RECIPIENTS, UNKNOWNS, FILLINGS]) {
    rest = rest.replace(known, (_, ...groups) => ` ${groups.slice(0, -2).join(" ")} `).replace(/\s+/g, " ");
  }
  return (rest.match(/\p{L}+/gu) ?? []).every(isKnownWord);
}

/**
 * Matches a text that leaves a code for an unknown recipient as certain as it is alone: every word is understood, and
 * if there are more than two, one names the recipient.
 */
export const NAMES_RECIPIENT = {
  test(text: string): boolean {
    const words = withoutIds(text).match(/\p{L}+/gu) ?? [];
    const isNamed = words.length <= 2 || words.some((one) => ENGLISH_RECIPIENTS.has(one));
    return isNamed && isUnderstood(text);
  },
};

/** Words with digits or dots are IDs, hosts and links. Longer texts and encoded words are not understood as a whole. */
function withoutIds(text: string): string {
  if (text.length > 400 || text.includes("=?")) return "not understood";
  const ids = /https?:\S+(?: \[\S+\])?|\S*\.\p{L}\S*|[^\s=:()[\]]*\d[^\s=:()[\]]*/gu;
  return text.replace(ids, " ").replace(/\s+/g, " ");
}
