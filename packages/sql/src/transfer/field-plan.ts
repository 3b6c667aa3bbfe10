import { EVERYDAY, lettersOf, type Meaning, meaningsOf } from "./column-names.ts";
import { CONTACT_FIELDS, type ContactField, type FieldMapping, type FieldTexts } from "./contact-fields.ts";

/** Added for each further number of a column: `Email 3` comes after `Mail`, but `Work Phone 2` before `Mobile`. */
const numberStep = (field: ContactField) => (field === "phoneNumber" ? 0.001 : 1000);
/** A second name in a line is that of another person. */
const PERSON_NAMES: ReadonlySet<ContactField> = new Set(["firstName", "lastName", "fullName"]);
/** Labels of numbers that are no phone. */
const NO_PHONE = /fax|pager|t[eé]l[eé]copi/;

interface FieldColumn extends Meaning {
  index: number;
  /** The thing that `Phone 1 - Value` is, and the column that says whose: `Phone 1 - Label` or `Phone 1 - Type`. */
  label?: { thing: string; at: number };
}

/** The columns of each field, the best first. */
export type FieldPlan = ReadonlyMap<ContactField, readonly FieldColumn[]>;

/**
 * Finds the columns of each field. A column without a number, or with the number 1, comes before a second one
 * (`Email 2`); a better name before others; everyday words last. Equal ones keep their order.
 *
 * @param isSource The names are keys of a page in a list of sources.
 */
export function planFields(columns: readonly string[], mapping: FieldMapping, isSource = false): FieldPlan {
  const names = columns.map(numberedName);
  const found = columns.flatMap((column, index) => {
    const label = labelOf(names, index);
    const place = { index, ...(label && { label }) };
    return fieldsOf(column.trim(), names[index], mapping, isSource).map((each) => ({ ...each, ...place }));
  });
  const isDated = found.some(({ field }) => field === "extractedOn" || field === "lastSeenOn");
  const fields = new Map<ContactField, FieldColumn[]>();
  for (const each of found.sort((a, b) => a.rank - b.rank)) {
    // Without a date, a URL is more often a profile or a home page than the page that shows the address.
    if (each.field === "sourceUri" && each.rank > EVERYDAY && !isDated) continue;
    fields.set(each.field, [...(fields.get(each.field) ?? []), each]);
  }
  // Of several columns, one is taken only if its text may be an address.
  const addresses = fields.get("address") ?? [];
  if (addresses.length > 1) for (const each of addresses) each.read ??= addressIn;
  takePart(fields, names);
  return fields;
}

/** `Name` is a last name beside `Vorname` alone, and a first name beside `Surname`. Beside `First Name`, it usually has both. */
function takePart(fields: Map<ContactField, FieldColumn[]>, names: readonly (NumberedName | null)[]): void {
  const name = fields.get("fullName")?.[0];
  const first = fields.get("firstName")?.[0];
  const isWhole = first && /^(?:first|given|fore)/.test(names[first.index]?.name ?? "");
  if (name === undefined || !/^(?:name|nom|nombre)$/.test(names[name.index]?.name ?? "") || isWhole) return;
  if ((first === undefined) === !fields.has("lastName")) return;
  fields.set(first ? "lastName" : "firstName", [name]);
}

/** Letters of a column's name in lower case, and its number. */
interface NumberedName {
  name: string;
  /** From 1; 1 without a number. */
  number: number;
}

/** @returns `null` for a name with several numbers. */
function numberedName(column: string): NumberedName | null {
  const letters = lettersOf(column);
  const [digits = "", ...further] = letters.match(/\d+/g) ?? [];
  if (further.length > 0) return null;
  return { name: letters.replace(digits, ""), number: Math.min(Math.max(1, Number(digits)), 500) };
}

function labelOf(names: readonly (NumberedName | null)[], index: number): FieldColumn["label"] {
  const own = names[index];
  const thing = /^(.+)value$/.exec(own?.name ?? "")?.[1];
  const labels = [`${thing}label`, `${thing}type`];
  const at = names.findIndex((each) => each?.number === own?.number && labels.includes(each?.name ?? ""));
  return thing === undefined || at === -1 ? undefined : { thing, at };
}

function fieldsOf(
  column: string,
  numbered: NumberedName | null | undefined,
  mapping: FieldMapping,
  isSource: boolean,
): Meaning[] {
  const mapped = CONTACT_FIELDS.filter((field) => mapping[field]?.trim() === column);
  if (mapped.length > 0) return mapped.map((field) => ({ field, rank: 0 }));
  if (!numbered) return [];
  const { name, number } = numbered;
  if (isSource && name === "domain") return [{ field: "sourceDomain", rank: 0 }];
  if (isSource && (name === "uri" || name === "url")) return [{ field: "sourceUri", rank: 0 }];
  return meaningsOf(name)
    .filter(({ field }) => mapping[field] === undefined && !(number > 1 && PERSON_NAMES.has(field)))
    .map((meaning) => ({ ...meaning, rank: meaning.rank + (number - 1) * numberStep(meaning.field) }));
}

function addressIn(text: string): string | undefined {
  return text.includes("@") ? text : undefined;
}

/**
 * The text of each field: of its columns, the first one with a text of the field. Empty if there is none.
 *
 * @param used Receives the indexes of the columns whose texts are taken.
 */
export function takeFields(
  plan: FieldPlan,
  textAt: (index: number) => string | undefined,
  used: number[],
): FieldTexts {
  const fields: FieldTexts = {};
  // An iterator would make an object for each field of each line.
  plan.forEach((columns, field) => {
    const isLabelled = columns.some(({ label }) => label !== undefined);
    for (const { index, read, label } of isLabelled ? byLabel(columns, textAt) : columns) {
      const text = textAt(index)?.trim();
      const value = text && read ? read(text) : text;
      if (value) fields[field] ??= value;
      if (value && value === fields[field]) used.push(index);
      if (label) used.push(label.at);
    }
    fields[field] ??= "";
  });
  return fields;
}

/** The columns in the order of their labels: `Work` beside `Phone 1 - Value` makes it a work phone. */
function byLabel(
  columns: readonly FieldColumn[],
  textAt: (index: number) => string | undefined,
): readonly FieldColumn[] {
  return columns
    .flatMap((column) => {
      const { field, label } = column;
      if (label === undefined) return [column];
      const word = lettersOf(textAt(label.at) ?? "");
      if (NO_PHONE.test(word)) return [];
      const rank = meaningsOf(word + label.thing).find((each) => each.field === field)?.rank;
      return [{ ...column, rank: rank ?? EVERYDAY }];
    })
    .sort((a, b) => a.rank - b.rank);
}
