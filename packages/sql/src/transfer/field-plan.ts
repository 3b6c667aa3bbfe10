import { EVERYDAY, type Meaning, meaningsOf } from "./column-names.ts";
import { CONTACT_FIELDS, type ContactField, type FieldMapping, type FieldTexts } from "./contact-fields.ts";

/** Added for each further number of a column: `Email 3` comes after `Mail`, but `Work Phone 2` before `Mobile`. */
const numberStep = (field: ContactField) => (field === "phoneNumber" ? 0.001 : 1000);
/** A second name in a line is that of another person. */
const PERSON_NAMES: ReadonlySet<ContactField> = new Set(["firstName", "lastName", "fullName"]);
/** Labels of phones and addresses, the best first: preferred, work, none or mobile. Others come last. */
const LABELS = [
  /^\s*\*/,
  /work|business|office|arbeit|gesch|dienst|bureau|prof|trabajo/i,
  /^\s*$|mobi|cell|handy|portable|m[oó]vil/i,
];
/** Labels of numbers that are no phone. */
const NO_PHONE = /fax|pager|t[eé]l[eé]copi/i;

interface FieldColumn extends Meaning {
  index: number;
  /** The column that labels this one as `Work`, `Mobile`, `Home`. */
  labelAt?: number;
}

/** The columns of each field, the best first, and the indexes of columns that are of no field. */
export interface FieldPlan {
  fields: ReadonlyMap<ContactField, readonly FieldColumn[]>;
  unknown: readonly number[];
  /** The part that a column of full names has: `Name` beside `Vorname`, or beside `Surname`. Absent if it has both. */
  namePart?: "firstName" | "lastName";
}

/**
 * Finds the columns of each field. A column without a number, or with the number 1, comes before a second one
 * (`Email 2`); a better name before others; everyday words last. Equal ones keep their order.
 *
 * @param isSource The names are keys of a page in a list of sources.
 */
export function planFields(columns: readonly string[], mapping: FieldMapping, isSource = false): FieldPlan {
  const names = columns.map(numberedName);
  const found = columns.flatMap((column, index) => {
    const place = { index, ...labelOf(names, index) };
    return fieldsOf(column.trim(), names[index], mapping, isSource).map((each) => ({ ...each, ...place }));
  });
  const isDated = found.some(({ field }) => field === "extractedOn" || field === "lastSeenOn");
  const fields = new Map<ContactField, FieldColumn[]>();
  for (const each of found.sort((a, b) => a.rank - b.rank)) {
    // Without a date, a URL is more often a profile or a home page than the page that shows the address.
    if (each.field === "sourceUri" && each.rank > EVERYDAY && !isDated) continue;
    const others = fields.get(each.field);
    if (others === undefined) fields.set(each.field, [each]);
    else others.push(each);
  }
  // Of several columns, one is taken only if its text may be an address.
  const addresses = fields.get("address") ?? [];
  if (addresses.length > 1) for (const each of addresses) each.read ??= addressIn;
  const used = new Set([...fields.values()].flat().flatMap(({ index, labelAt }) => [index, labelAt]));
  const unknown = columns.flatMap((column, index) =>
    column.trim() === "" || used.has(index) ? [] : [index],
  );
  const namePart = namePartIn(fields, names);
  return { fields, unknown, ...(namePart && { namePart }) };
}

function namePartIn(
  fields: FieldPlan["fields"],
  names: readonly (NumberedName | null)[],
): FieldPlan["namePart"] {
  const [full, first, last] = (["fullName", "firstName", "lastName"] as const).map(
    (field) => fields.get(field)?.[0],
  );
  const isOf = (column: FieldColumn | undefined, name: RegExp) =>
    name.test(names[column?.index ?? -1]?.name ?? "");
  if (!isOf(full, /^(?:name|nom|nombre)$/) || (first && last)) return undefined;
  // Beside `First Name`, `Name` usually has both parts.
  if (first) return isOf(first, /^(?:first|given|fore)/) ? undefined : "lastName";
  return last && "firstName";
}

/** Letters of a column's name in lower case, and its number. */
interface NumberedName {
  name: string;
  /** From 1; 1 without a number. */
  number: number;
}

/** @returns `null` for a name with several numbers. */
function numberedName(column: string): NumberedName | null {
  const letters = column
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]/gu, "");
  const [digits = "", ...further] = letters.match(/\d+/g) ?? [];
  if (further.length > 0) return null;
  return { name: letters.replace(digits, ""), number: Math.min(Math.max(1, Number(digits)), 500) };
}

/** The column that labels a column: `Phone 1 - Label` or `Phone 1 - Type` for `Phone 1 - Value`. */
function labelOf(names: readonly (NumberedName | null)[], index: number): { labelAt?: number } {
  const own = names[index];
  if (!own || !/.value$/.test(own.name)) return {};
  const thing = own.name.slice(0, -"value".length);
  const labels = [`${thing}label`, `${thing}type`];
  const labelAt = names.findIndex((each) => each?.number === own.number && labels.includes(each.name));
  return labelAt === -1 ? {} : { labelAt };
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
 * Takes the fields of a line: for each the first column that is filled and whose text is of the field.
 *
 * @param textAt The text of a column; `undefined` if it is empty.
 * @param onUnused Receives each column of a field whose text was not taken. A text equal to the one taken does not count.
 */
export function takeFields(
  { fields: plan }: FieldPlan,
  textAt: (index: number) => string | undefined,
  onUnused: (index: number) => void,
): FieldTexts {
  const fields: FieldTexts = {};
  const taken: number[] = [];
  const left: number[] = [];
  // An iterator would make an object for each field of each line.
  plan.forEach((columns, field) => {
    let chosen: string | undefined;
    for (const { index, read } of columns.some(({ labelAt }) => labelAt !== undefined)
      ? byLabel(columns, textAt)
      : columns) {
      const text = textAt(index)?.trim();
      if (text === undefined || text === "" || text === chosen) continue;
      const value = read === undefined ? text : read(text);
      if (chosen !== undefined || value === undefined) {
        left.push(index);
      } else {
        chosen = text;
        fields[field] = value;
        taken.push(index);
      }
    }
  });
  for (const index of left) if (!taken.includes(index)) onUnused(index);
  return fields;
}

function byLabel(
  columns: readonly FieldColumn[],
  textAt: (index: number) => string | undefined,
): readonly FieldColumn[] {
  const ranked = columns.map((column) => {
    const label = column.labelAt === undefined ? "" : (textAt(column.labelAt) ?? "");
    const rank = LABELS.findIndex((kind) => kind.test(label));
    const used = NO_PHONE.test(label) ? { ...column, read: () => undefined } : column;
    return { column: used, rank: rank === -1 ? LABELS.length : rank };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ column }) => column);
}
