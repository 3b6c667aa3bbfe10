import { isSalutation } from "@outrigger/core/lookup";

/** The fields of a contact that a file can contain. */
export const CONTACT_FIELDS = [
  "address",
  "type",
  "confidence",
  "firstName",
  "lastName",
  "fullName",
  "position",
  "seniority",
  "department",
  "networkA",
  "networkAUrl",
  "networkB",
  "phoneNumber",
  "verificationStatus",
  "verificationDate",
  "domain",
  "organization",
  "sourceDomain",
  "sourceUri",
  "extractedOn",
  "lastSeenOn",
  "stillOnPage",
] as const;
export type ContactField = (typeof CONTACT_FIELDS)[number];

/** The file's column or key for each field, instead of the names that are recognised for the field. */
export type FieldMapping = Partial<Record<ContactField, string>>;

/** Texts of a line by field. Empty texts are absent. */
export type FieldTexts = Partial<Record<ContactField, string>>;

type Fits = (text: string) => boolean;
/** First rank of everyday words. Such a column often means something else, so it comes last. */
const EVERYDAY = 1_000_000;
/** Added for each further number of a column: `Email 3` comes after `Mail`, but before an everyday word. */
const NUMBERED = 1000;
/** Added for letters of another alphabet beside the name. */
const MIXED = 500;

/**
 * Further recognised names, in lower case without spaces, signs and numbers, and their ranks. A field's own name has
 * rank 0. A text that does not fit counts as absent.
 */
const OTHER_NAMES: readonly (readonly [field: ContactField, rank: number, names: string, fits?: Fits])[] = [
  ["address", 0, "email emailaddress"],
  ["address", 1, "mail"],
  ["address", EVERYDAY + 1, "value"],
  ["firstName", 1, "givenname"],
  ["lastName", 1, "surname familyname"],
  ["fullName", 1, "name"],
  ["position", 1, "jobtitle"],
  ["position", EVERYDAY, "title", (text) => !isSalutation(text)],
  ["phoneNumber", 1, "phone telephone"],
  ["organization", 0, "organisation"],
  ["organization", 1, "company"],
  ["networkAUrl", EVERYDAY, "source url uri", (text) => PROFILE.test(text.trim())],
  ["sourceUri", 1, "sourceurl"],
  ["sourceUri", EVERYDAY, "source uri", isPage],
  ["sourceUri", EVERYDAY + 1, "url", isPage],
];

const PROFILE =
  /^(?:https?:\/\/)?(?:[a-z0-9-]+\.)*(?:linkedin\.com\/(?:in|pub)|xing\.com\/(?:profile|people))\/[^\s/]/i;
/** Networks of people. A link to one tells who a person is, not where the address was found. */
const NETWORKS =
  /(?:^|\.)(?:(?:linkedin|xing|viadeo|twitter|x|facebook|fb|instagram|tiktok|vk|weibo)\.com|threads\.(?:net|com)|bsky\.app|lnkd\.in|t\.me)$/i;

function isPage(text: string): boolean {
  return /^\s*https?:\/\//i.test(text) && URL.canParse(text) && !NETWORKS.test(new URL(text).hostname);
}

/** A second name in a line is that of another person. */
const PERSON_NAMES: ReadonlySet<ContactField> = new Set(["firstName", "lastName", "fullName"]);

interface Meaning {
  field: ContactField;
  rank: number;
  fits?: Fits | undefined;
}

const MEANINGS = new Map<string, Meaning[]>();
for (const field of CONTACT_FIELDS) {
  MEANINGS.set(field.toLowerCase(), [{ field, rank: field === "address" ? EVERYDAY : 0 }]);
}
for (const [field, rank, names, fits] of OTHER_NAMES) {
  for (const name of names.split(" ")) {
    MEANINGS.set(name, [...(MEANINGS.get(name) ?? []), { field, rank, fits }]);
  }
}

/** The columns of each field, the best first, by their indexes. */
export type FieldPlan = ReadonlyMap<ContactField, readonly (Meaning & { index: number })[]>;

/**
 * Finds the columns of each field. A column without a number, or with the number 1, comes before a second one
 * (`Email 2`); a better name before others; everyday words last. Equal ones keep their order.
 *
 * @param isSource The names are keys of a page in a list of sources.
 */
export function planFields(columns: readonly string[], mapping: FieldMapping, isSource = false): FieldPlan {
  const found = columns.flatMap((column, index) =>
    meaningsOf(column.trim(), mapping, isSource).map((meaning) => ({ ...meaning, index })),
  );
  const isDated = found.some(({ field }) => field === "extractedOn" || field === "lastSeenOn");
  const plan = new Map<ContactField, (Meaning & { index: number })[]>();
  for (const each of found.sort((a, b) => a.rank - b.rank)) {
    // Without a date, a URL is more often a profile or a home page than the page that shows the address.
    if (each.field === "sourceUri" && each.rank > EVERYDAY && !isDated) continue;
    const others = plan.get(each.field);
    if (others === undefined) plan.set(each.field, [each]);
    else others.push(each);
  }
  return plan;
}

function meaningsOf(column: string, mapping: FieldMapping, isSource: boolean): Meaning[] {
  const mapped = CONTACT_FIELDS.filter((field) => mapping[field]?.trim() === column);
  if (mapped.length > 0) return mapped.map((field) => ({ field, rank: 0 }));
  const letters = column
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]/gu, "");
  const [digits = "", ...further] = letters.match(/\d+/g) ?? [];
  if (further.length > 0) return [];
  const name = letters.replace(digits, "");
  if (isSource && name === "domain") return [{ field: "sourceDomain", rank: 0 }];
  if (isSource && (name === "uri" || name === "url")) return [{ field: "sourceUri", rank: 0 }];
  const latin = name.replaceAll(/\P{Script=Latin}/gu, "");
  const number = Math.min(Math.max(1, Number(digits)), 500) - 1;
  return (MEANINGS.get(name) ?? MEANINGS.get(latin) ?? [])
    .filter(({ field }) => mapping[field] === undefined && !(number > 0 && PERSON_NAMES.has(field)))
    .map((meaning) => ({
      ...meaning,
      rank: meaning.rank + number * NUMBERED + (latin === name ? 0 : MIXED),
    }));
}

/**
 * Takes the fields of a line: for each the first column that is filled and whose text fits.
 *
 * @param textAt The text of a column; `undefined` if it is empty.
 * @param onUnused Receives each column whose text was not taken because another column gave its field. Equal texts
 * do not count.
 */
export function takeFields(
  plan: FieldPlan,
  textAt: (index: number) => string | undefined,
  onUnused: (index: number) => void,
): FieldTexts {
  const fields: FieldTexts = {};
  const taken = new Set<number>();
  const unused = new Set<number>();
  for (const [field, columns] of plan) {
    const filled = columns.filter(({ index }) => textAt(index)?.trim());
    const first = filled.find(({ index, fits }) => fits?.(textAt(index) ?? "") !== false);
    if (first === undefined) continue;
    const text = textAt(first.index) ?? "";
    fields[field] = text;
    taken.add(first.index);
    for (const { index } of filled) if (textAt(index)?.trim() !== text.trim()) unused.add(index);
  }
  for (const index of unused) if (!taken.has(index)) onUnused(index);
  return fields;
}
