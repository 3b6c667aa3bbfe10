import { Readable } from "node:stream";
import { type ContactEvidence, csvLine as csvLineOf } from "@outrigger/core/lookup";
import { checkOptions, rules } from "@outrigger/core/stores";
import { type StoredContact, unpackStoredContact } from "../contacts/packed-contact.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { type SuppressionTest, suppressedAmong } from "./suppressed-among.ts";

const RULES = {
  /** `csv`, with the names of the columns in the first line, or `ndjson`, with a JSON object in each line. */
  format: rules.required(rules.oneOf("csv", "ndjson")),
  /**
   * Returns which of at most 100 normalised addresses and domains are suppressed; the export omits these, a domain
   * with all its addresses.
   * @default none
   */
  isSuppressed: rules.fn<(subjects: readonly string[]) => Promise<ReadonlySet<string>>>(),
};

export interface ExportOptions extends rules.Options<typeof RULES> {}

const CHUNK = 1000;

const COLUMNS = [
  "address",
  "type",
  "confidence",
  "first_name",
  "last_name",
  "position",
  "seniority",
  "department",
  "network_a",
  "network_a_url",
  "network_b",
  "phone_number",
  "verification_status",
  "verification_date",
  "domain",
  "organization",
  "source_domain",
  "source_uri",
  "extracted_on",
  "last_seen_on",
  "still_on_page",
] as const;

interface DomainRow {
  name: string;
  organization: string | null;
}

interface ExportRow extends DomainRow {
  address: string;
  packed: string;
}

/**
 * Exports all contacts in the order of addresses, in a format that `importContacts` reads. CSV has a line for each
 * page of an address, NDJSON a line for each address. Organisations without addresses come last. Changes during the
 * export may or may not be included.
 */
export function exportContacts(database: SqlDatabase, options: ExportOptions): Readable {
  const { format, isSuppressed } = checkOptions("exportContacts", options, RULES);
  const texts = (format === "csv" ? csvTexts : ndjsonTexts)(database, isSuppressed);
  return Readable.from(texts, { objectMode: false });
}

async function* csvTexts(database: SqlDatabase, test: SuppressionTest | undefined): AsyncGenerator<string> {
  yield `${COLUMNS.join(",")}\r\n`;
  for await (const rows of pagesOf(database, CONTACTS, test)) yield rows.map(csvLines).join("");
  for await (const rows of pagesOf(database, DOMAINS, test)) {
    yield rows.map(({ name, organization }) => csvLine({ domain: name, organization })).join("");
  }
}

async function* ndjsonTexts(
  database: SqlDatabase,
  test: SuppressionTest | undefined,
): AsyncGenerator<string> {
  for await (const rows of pagesOf(database, CONTACTS, test)) {
    const lines = rows.map(({ packed, name, organization }) => {
      return `${JSON.stringify(contactObject(unpackStoredContact(packed), name, organization))}\n`;
    });
    yield lines.join("");
  }
  for await (const rows of pagesOf(database, DOMAINS, test)) {
    yield rows
      .map(({ name, organization }) => `${JSON.stringify({ domain: name, organization })}\n`)
      .join("");
  }
}

/** A statement that returns the rows after a key in its order, and the subjects of a row, of which the first is its key. */
interface Query<Row> {
  statement: string;
  subjectsOf(row: Row): [string, ...string[]];
}

const CONTACTS: Query<ExportRow> = {
  statement: `SELECT c.address, c.packed, d.name, d.organization FROM lookup_contacts c
    JOIN lookup_domains d ON d.id = c.domain_id WHERE c.address > $1 ORDER BY c.address LIMIT ${CHUNK}`,
  subjectsOf: ({ address, name }) => [address, name],
};

/** Organisations of domains without addresses. */
const DOMAINS: Query<DomainRow> = {
  statement: `SELECT name, organization FROM lookup_domains
    WHERE total = 0 AND organization IS NOT NULL AND name > $1 ORDER BY name LIMIT ${CHUNK}`,
  subjectsOf: ({ name }) => [name],
};

/** All rows of a query that are not suppressed, page by page. */
async function* pagesOf<Row>(
  database: SqlDatabase,
  { statement, subjectsOf }: Query<Row>,
  test: SuppressionTest | undefined,
): AsyncGenerator<Row[]> {
  const driver = useDatabase(database);
  let after = "";
  for (;;) {
    const rows = await driver.all<Row>(statement, [after]);
    const hidden = await suppressedAmong(rows.flatMap(subjectsOf), test);
    yield rows.filter((row) => !subjectsOf(row).some((subject) => hidden.has(subject)));
    const last = rows.at(-1);
    if (rows.length < CHUNK || last === undefined) return;
    [after] = subjectsOf(last);
  }
}

function csvLines({ packed, name, organization }: ExportRow): string {
  const contact = unpackStoredContact(packed);
  const fields = { ...fieldsOf(contact), domain: name, organization: contact.organization ?? organization };
  if (contact.evidence.length === 0) return csvLine(fields);
  return contact.evidence
    .map(({ domain, uri, ...dates }) =>
      csvLine({ ...fields, source_domain: domain, source_uri: uri, ...datesOf(dates) }),
    )
    .join("");
}

type ColumnValues = Partial<Record<(typeof COLUMNS)[number], string | number | boolean | null>>;

function csvLine(values: ColumnValues): string {
  return csvLineOf(COLUMNS.map((column) => values[column] ?? ""));
}

/** A contact as a line of NDJSON has it. */
export function contactObject(contact: StoredContact, domain: string, organization: string | null): object {
  const sources = contact.evidence.map((page) => ({ domain: page.domain, uri: page.uri, ...datesOf(page) }));
  return { ...fieldsOf(contact), domain, organization: contact.organization ?? organization, sources };
}

function datesOf({ extractedOn, lastSeenOn, stillOnPage }: Omit<ContactEvidence, "domain" | "uri">) {
  return { extracted_on: extractedOn, last_seen_on: lastSeenOn, still_on_page: stillOnPage };
}

function fieldsOf(contact: StoredContact): ColumnValues {
  return {
    address: contact.address,
    type: contact.type,
    confidence: contact.confidence,
    first_name: contact.firstName,
    last_name: contact.lastName,
    position: contact.position,
    seniority: contact.seniority,
    department: contact.department,
    network_a: contact.networkA,
    network_a_url: contact.networkAUrl,
    network_b: contact.networkB,
    phone_number: contact.phoneNumber,
    verification_status: contact.verification?.status ?? null,
    verification_date: contact.verification?.date ?? null,
  };
}
