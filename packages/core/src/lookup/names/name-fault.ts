import type { JsonSchema } from "../../schema/json-schema.ts";

/** Why a name cannot be searched for. */
export type NameFault =
  | "empty"
  /** More than 100 characters. */
  | "too_long"
  | "control_character"
  /** It has digits. */
  | "digits"
  /** No letter in any script. */
  | "no_letters"
  /** Made of initials only, e.g. `J. R.` */
  | "single_letters";

/**
 * A name, as far as a regular expression of any validator can check it. {@link nameFault} also detects the
 * digits of other scripts.
 */
export const NAME_SCHEMA = {
  type: "string",
  minLength: 1,
  maxLength: 100,
  pattern: "^[^0-9\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
} as const satisfies JsonSchema;

const MAX_NAME_CHARACTERS = NAME_SCHEMA.maxLength;

/** The fault of a first, last or full name; `null` if it can be searched for. */
export function nameFault(name: string): NameFault | null {
  if (name.trim() === "") {
    return "empty";
  }
  if (name.length > 2 * MAX_NAME_CHARACTERS || [...name].length > MAX_NAME_CHARACTERS) {
    return "too_long";
  }
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name)) {
    return "control_character";
  }
  if (/\p{Nd}/u.test(name)) {
    return "digits";
  }
  const words = name.match(/\p{L}[\p{L}\p{M}]*/gu);
  if (words === null) {
    return "no_letters";
  }
  return words.every(isSingleLetter) ? "single_letters" : null;
}

/**
 * Whether a word is a single letter of an alphabet. A single character of a script that writes words with one
 * character is a name.
 */
function isSingleLetter(word: string): boolean {
  return /^\p{L}\p{M}*$/u.test(word.normalize("NFC")) && !/[\p{Script=Han}\p{Script=Hangul}]/u.test(word);
}
