import { type NameForm, structuresOfFirst, structuresOfLast } from "./name-structures.ts";
import { spellings, toAscii } from "./transliterate.ts";

/** The forms of a person's name in addresses, each list likeliest first. Empty for a name without letters. */
export interface NameForms {
  first: readonly NameForm[];
  last: readonly NameForm[];
  /** Abbreviations of the first name in addresses: `a`; for `Anne-Marie` also `am`. */
  firstInitials: readonly NameForm[];
  /** Abbreviations of the last name: for `van der Berg` `v`, `b`, `vdb`. */
  lastInitials: readonly NameForm[];
}

/** Less likely forms are omitted. */
const MIN_WEIGHT = 0.01;
const MAX_FORMS = 10;
/** Of addresses with an initial of a name of several words, the share with all initials. */
const ALL_INITIALS_WEIGHT = 0.1;

/** The forms in which each part of a name can appear in an address, derived from the name alone. */
export function nameForms(firstName: string, lastName: string): NameForms {
  const first = formsOf(structuresOfFirst(firstName));
  const last = formsOf(structuresOfLast(lastName));
  return {
    first,
    last,
    firstInitials: initialsOf(first, firstName),
    lastInitials: initialsOf(last, lastName),
  };
}

function formsOf(structures: readonly NameForm[]): NameForm[] {
  const weights = new Map<string, number>();
  for (const structure of structures) {
    for (const spelling of spellings(structure.text)) {
      const text = spelling.text.replace(/[^a-z.'-]/g, "");
      if (/^[a-z]/.test(text) && /[a-z]$/.test(text)) {
        addTo(weights, text, structure.weight * spelling.weight);
      }
    }
  }
  return likeliest(weights);
}

function initialsOf(forms: readonly NameForm[], name: string): NameForm[] {
  const words = toAscii(name)
    .replace(/['`]/g, "")
    .split(/[^a-z]+/);
  const all = words.map((word) => word.charAt(0)).join("");
  const hasSeveral = all.length > 1;
  const weights = new Map<string, number>();
  for (const form of forms) {
    addTo(weights, form.text.charAt(0), form.weight * (hasSeveral ? 1 - ALL_INITIALS_WEIGHT : 1));
  }
  if (hasSeveral && forms.length > 0 && all.length <= 4) {
    addTo(weights, all, ALL_INITIALS_WEIGHT);
  }
  return likeliest(weights);
}

function addTo(weights: Map<string, number>, text: string, weight: number): void {
  weights.set(text, (weights.get(text) ?? 0) + weight);
}

function likeliest(weights: ReadonlyMap<string, number>): NameForm[] {
  return [...weights]
    .map(([text, weight]) => ({ text, weight }))
    .filter((form) => form.weight >= MIN_WEIGHT)
    .sort((left, right) => right.weight - left.weight || (left.text < right.text ? -1 : 1))
    .slice(0, MAX_FORMS);
}
