import { ALSO_PERSONAL, QUALIFIERS, ROLE_NAMES } from "./role-names.ts";

const SIGNS = /[._+-]/;
const SIGNS_ALL = /[._+-]+/g;
const DIGITS_AT_END = /[0-9]+$/;

/**
 * Whether the local part of an address names a role instead of a person: `info`, `sales-eu`, `info.berlin`,
 * `it.support`, `no-reply`, `support2`. A role counts if it is the whole local part, if it comes first
 * (`info.berlin`), or if it follows a place or an audience (`eu-sales`). A role that is also a personal name
 * counts only alone or next to such a word: `sales-eu`, but not `sales.maria`, and never `john.sales`.
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
  // `no-reply` is a role; but `h.r` are initials.
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
