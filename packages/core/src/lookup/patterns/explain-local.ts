import type { NameForms, NameSpelling } from "../names/name-forms.ts";
import type { Choice } from "../names/name-habits.ts";
import type { NameForm } from "../names/name-structures.ts";

/** The patterns that form a local part, each with the choices that the address proves. */
export type Readings = ReadonlyMap<string, readonly Choice[]>;

/** Longer ones are not explained. */
const MAX_LOCAL_LENGTH = 64;
const SIGNS = "._-";
const FIRST = [["{first}", "first"] as const, ["{f}", "firstInitials"] as const];
const LAST = [["{last}", "last"] as const, ["{l}", "lastInitials"] as const];
const ORDERS = [[FIRST, LAST] as const, [LAST, FIRST] as const];
/** A number that distinguishes people with the same name: `john.smith2`. */
const NUMBER_AT_END = /(?<=[a-z])[._-]?[0-9]{1,4}$/;
/** A word before or after the name: `ext.`, `-consultant`. */
const WORD_BEFORE = /^([a-z]{1,12}[._-])(.+)$/;
const WORD_BEHIND = /^(.+)([._-][a-z]{1,12})$/;

/**
 * The patterns that form a local part from a name. Literal text besides the name is tried only if no pattern
 * explains the whole. Empty if nothing does.
 * @param local as {@link plainLocal} returns it.
 */
export function explainLocal(local: string, name: readonly NameSpelling[]): Readings {
  if (local.length === 0 || local.length > MAX_LOCAL_LENGTH) return new Map();
  const whole = readingsOf(local, name);
  if (whole.size > 0) return whole;
  const [, before = "", rest = ""] = WORD_BEFORE.exec(local) ?? [];
  const [, start = "", behind = ""] = WORD_BEHIND.exec(local) ?? [];
  return new Map([
    ...fullReadingsOf(rest, name).map(([pattern, choices]) => [before + pattern, choices] as const),
    ...fullReadingsOf(start, name).map(([pattern, choices]) => [pattern + behind, choices] as const),
  ]);
}

/** A local part without a suffix after `+` and a number at the end: they are not part of a pattern. */
export function plainLocal(local: string): string {
  const lower = local.normalize("NFC").toLowerCase();
  const tag = lower.indexOf("+");
  return (tag > 0 ? lower.slice(0, tag) : lower).replace(NUMBER_AT_END, "");
}

/** With literal text, initials alone prove nothing. */
function fullReadingsOf(local: string, name: readonly NameSpelling[]): [string, readonly Choice[]][] {
  return local === "" ? [] : [...readingsOf(local, name)].filter(([pattern]) => /first|last/.test(pattern));
}

function readingsOf(local: string, name: readonly NameSpelling[]): Map<string, readonly Choice[]> {
  const readings = new Map<string, readonly Choice[]>();
  for (const { forms, choices } of name) {
    forEachPattern(local, forms, (pattern, start, end) => {
      const all = [...choices, ...start.choices, ...(end?.choices ?? [])];
      const known = readings.get(pattern);
      // What only some readings of an address say is not certain.
      readings.set(pattern, known === undefined ? all : known.filter((choice) => all.includes(choice)));
    });
  }
  return readings;
}

/** No generator: patterns are learnt from each imported contact. */
function forEachPattern(
  local: string,
  forms: NameForms,
  found: (pattern: string, start: NameForm, end?: NameForm) => void,
): void {
  for (const [starts, ends] of ORDERS) {
    for (const [startName, startForms] of starts) {
      for (const start of forms[startForms]) {
        if (!local.startsWith(start.text)) continue;
        const rest = local.slice(start.text.length);
        if (rest === "" && startName.length > 3) found(startName, start);
        const sign = SIGNS.includes(rest.charAt(0)) ? rest.charAt(0) : "";
        const end = rest.slice(sign.length);
        for (const [endName, endForms] of ends) {
          for (const form of forms[endForms]) {
            if (form.text === end) found(startName + sign + endName, start, form);
          }
        }
      }
    }
  }
}
