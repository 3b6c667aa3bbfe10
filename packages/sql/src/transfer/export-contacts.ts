import { Readable } from "node:stream";
import { csvLine } from "@outrigger/core/lookup";
import { checkOptions, rules } from "@outrigger/core/stores";
import { type StoredContact, unpackStoredContact } from "../contacts/packed-contact.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { CONTACT_FIELDS } from "./contact-fields.ts";
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
const COLUMNS = CONTACT_FIELDS.filter((field) => field !== "fullName").map((field) =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

interface DomainRow {
  name: string;
  organization: string | null;
}

interface ContactRow extends DomainRow {
  packed: string;
}

/**
 * Exports all contacts in the order of addresses, in a format that `importContacts` reads. CSV has a line for each
 * page of an address, NDJSON a line for each address. Organisations without addresses come last. Changes during the
 * export may or may not be included.
 */
export function exportContacts(database: SqlDatabase, options: ExportOptions): Readable {
  const { format, isSuppressed } = checkOptions("exportContacts", options, RULES);
  return Readable.from(textsOf(database, format === "csv", isSuppressed), { objectMode: false });
}

async function* textsOf(
  database: SqlDatabase,
  isCsv: boolean,
  test: SuppressionTest | undefined,
): AsyncGenerator<string> {
  const text = isCsv ? csvLines : jsonLine;
  if (isCsv) yield csvLine(COLUMNS);
  const contacts = `SELECT c.address AS key, c.packed, d.name, d.organization FROM lookup_contacts c
    JOIN lookup_domains d ON d.id = c.domain_id WHERE c.address > $1 ORDER BY c.address LIMIT ${CHUNK}`;
  for await (const rows of pagesOf<ContactRow>(database, contacts, test)) {
    yield rows
      .map(({ packed, name, organization }) =>
        text(...contactValues(unpackStoredContact(packed), name, organization)),
      )
      .join("");
  }
  // Organisations of domains without addresses.
  const domains = `SELECT name AS key, name, organization FROM lookup_domains
    WHERE total = 0 AND organization IS NOT NULL AND name > $1 ORDER BY name LIMIT ${CHUNK}`;
  for await (const rows of pagesOf<DomainRow>(database, domains, test)) {
    yield rows.map(({ name, organization }) => text({ domain: name, organization })).join("");
  }
}

/** All rows of a statement that are not suppressed, page by page. It returns the rows after a key in the order of keys. */
async function* pagesOf<Row extends DomainRow>(
  database: SqlDatabase,
  statement: string,
  test: SuppressionTest | undefined,
): AsyncGenerator<Row[]> {
  const driver = useDatabase(database);
  let last: string | undefined = "";
  while (last !== undefined) {
    const rows: (Row & { key: string })[] = await driver.all(statement, [last]);
    const hidden = await suppressedAmong(
      rows.flatMap(({ key, name }) => [key, name]),
      test,
    );
    yield rows.filter(({ key, name }) => !hidden.has(key) && !hidden.has(name));
    last = rows.at(-1)?.key;
  }
}

type Values = Readonly<Record<string, string | number | boolean | null>>;

/** The values of a contact by the names of an export, and those of its pages. */
export function contactValues(
  contact: StoredContact,
  domain: string,
  organization: string | null,
): [fields: Values, sources: Values[]] {
  const fields = {
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
    domain,
    organization: contact.organization ?? organization,
  };
  const sources = contact.evidence.map(({ domain, uri, extractedOn, lastSeenOn, stillOnPage }) => {
    return { domain, uri, extracted_on: extractedOn, last_seen_on: lastSeenOn, still_on_page: stillOnPage };
  });
  return [fields, sources];
}

function jsonLine(fields: Values, sources?: readonly Values[]): string {
  return `${JSON.stringify({ ...fields, sources })}\n`;
}

/** A line for each page, or one without any. */
function csvLines(fields: Values, sources: readonly Values[] = []): string {
  const pages = sources.length > 0 ? sources : [{}];
  return pages
    .map(({ domain = null, uri = null, ...dates }: Values) => {
      const values: Values = { ...fields, source_domain: domain, source_uri: uri, ...dates };
      return csvLine(COLUMNS.map((column) => values[column] ?? ""));
    })
    .join("");
}
