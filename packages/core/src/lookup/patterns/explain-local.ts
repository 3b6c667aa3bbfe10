import type { NameForms } from "../names/name-forms.ts";
import { nameForms } from "../names/name-forms.ts";
import type { NameForm } from "../names/name-structures.ts";

/** The possible readings of a local part. */
export interface Explanation {
  /** Patterns that form it, each once. */
  patterns: readonly string[];
  /** Whether they contain literal text besides the name: `{first}.{last}.ext`. */
  hasText: boolean;
}

/** Longer ones are not explained. */
const MAX_LOCAL_LENGTH = 64;
const SIGNS = "._-";
/** A number that distinguishes people with the same name: `john.smith2`. */
const NUMBER_AT_END = /(?<=[a-z])[._-]?[0-9]{1,4}$/;
/** A word before or after the name: `ext.`, `-consultant`. */
const WORD_BEFORE = /^([a-z]{1,12}[._-])(.+)$/;
const WORD_BEHIND = /^(.+)([._-][a-z]{1,12})$/;

/**
 * The patterns that form a local part from a name. A suffix after `+` and a number at the end are not part of
 * the pattern. Literal text besides the name is tried only if no pattern explains the whole. `null` if
 * nothing does.
 */
export function explainLocal(local: string, firstName: string, lastName: string): Explanation | null {
  const plain = plainLocal(local);
  if (plain.length === 0 || plain.length > MAX_LOCAL_LENGTH) {
    return null;
  }
  const forms = nameForms(firstName, lastName);
  const whole = patternsOf(plain, forms);
  if (whole.length > 0) {
    return { patterns: whole, hasText: false };
  }
  const [, before = "", rest = ""] = WORD_BEFORE.exec(plain) ?? [];
  const [, start = "", behind = ""] = WORD_BEHIND.exec(plain) ?? [];
  const patterns = [
    ...fullPatternsOf(rest, forms).map((pattern) => before + pattern),
    ...fullPatternsOf(start, forms).map((pattern) => pattern + behind),
  ];
  return patterns.length > 0 ? { patterns, hasText: true } : null;
}

function plainLocal(local: string): string {
  const lower = local.normalize("NFC").toLowerCase();
  const tag = lower.indexOf("+");
  return (tag > 0 ? lower.slice(0, tag) : lower).replace(NUMBER_AT_END, "");
}

/** With literal text, initials alone prove nothing. */
function fullPatternsOf(local: string, forms: NameForms): string[] {
  return patternsOf(local, forms).filter((pattern) => /first|last/.test(pattern));
}

function patternsOf(local: string, forms: NameForms): string[] {
  const first: [string, readonly NameForm[]][] = [
    ["{first}", forms.first],
    ["{f}", forms.firstInitials],
  ];
  const last: [string, readonly NameForm[]][] = [
    ["{last}", forms.last],
    ["{l}", forms.lastInitials],
  ];
  const patterns = new Set<string>();
  for (const [starts, ends] of [
    [first, last],
    [last, first],
  ] as const) {
    for (const [startName, startForms] of starts) {
      for (const start of startForms) {
        if (!local.startsWith(start.text)) {
          continue;
        }
        const rest = local.slice(start.text.length);
        if (rest === "" && startName.length > 3) {
          patterns.add(startName);
        }
        const sign = SIGNS.includes(rest.charAt(0)) ? rest.charAt(0) : "";
        const end = rest.slice(sign.length);
        for (const [endName, endForms] of ends) {
          if (endForms.some((form) => form.text === end)) {
            patterns.add(startName + sign + endName);
          }
        }
      }
    }
  }
  return [...patterns];
}
