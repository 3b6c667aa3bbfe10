import { ALSO_PERSONAL, QUALIFIERS, ROLE_NAMES } from "./role-names.ts";

const SIGNS = /[._+-]/;
const SIGNS_ALL = /[._+-]+/g;
const DIGITS_AT_END = /[0-9]+$/;

/**
 * Whether the part before an `@` names a function, not a person: `info`, `sales-eu`, `info.berlin`, `it.support`,
 * `no-reply`, `support2`. A function counts if it is all there is, if it comes first (`info.berlin`), or if it comes after
 * a place or an audience (`eu-sales`); a word that people are called by, too, only alone or beside such a word
 * (`sales-eu`, but not `sales.maria`, and `john.sales` never).
 */
export function isRoleName(local: string): boolean {
  const lower = local.toLowerCase();
  if (ROLE_NAMES.has(lower)) {
    return true;
  }
  const name = DIGITS_AT_END.test(lower) ? lower.replace(DIGITS_AT_END, "") : lower;
  if (!SIGNS.test(name)) {
    return name !== lower && ROLE_NAMES.has(name);
  }
  const words = name.split(SIGNS_ALL).filter((word) => word !== "");
  // `no-reply`; but `h.r` are initials.
  if (words.every((word) => word.length > 1) && ROLE_NAMES.has(words.join(""))) {
    return true;
  }
  const [first = "", ...rest] = words;
  if (ROLE_NAMES.has(first)) {
    return !ALSO_PERSONAL.has(first) || rest.every(isBesideRole);
  }
  return QUALIFIERS.has(first) && rest.some((word) => ROLE_NAMES.has(word)) && rest.every(isBesideRole);
}

function isBesideRole(word: string): boolean {
  return QUALIFIERS.has(word) || ROLE_NAMES.has(word);
}
