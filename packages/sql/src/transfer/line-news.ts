import type { ContactEvidence } from "@outrigger/core";
import {
  DEPARTMENTS,
  normaliseDomain,
  parseAddress,
  parseFullName,
  SENIORITIES,
  VERIFICATION_STATUSES,
} from "@outrigger/core/lookup";
import type { ContactNews } from "../contacts/merge-contact.ts";
import type { ContactField } from "./contact-fields.ts";
import type { BadLine, FieldTexts, FileLine } from "./file-line.ts";

/** The content of a line: facts about an address, or only the organisation of a domain. */
export type LineNews = { news: ContactNews } | { domain: string; organization: string };

/** Maximum length of the text of a field, in characters. */
const MAX_LENGTH = 2000;
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/;
const YES = new Set(["true", "1", "yes", "y"]);
const NO = new Set(["false", "0", "no", "n"]);

/** A field of a line has an invalid value. */
class BadValue extends Error {
  readonly field: ContactField;

  constructor(field: ContactField) {
    super(`The value of ${field} is invalid`);
    this.field = field;
  }
}

/**
 * Reads the values of a line.
 * @param today `YYYY-MM-DD`: the date of a page without dates.
 */
export function newsOf({ line, fields, sources }: FileLine, today: string): LineNews | BadLine {
  try {
    return read(fields, sources, today);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const { field } = error;
    return field === "address" ? { line, reason: "address" } : { line, reason: "value", field };
  }
}

function read(fields: FieldTexts, sources: readonly FieldTexts[], today: string): LineNews {
  const { address } = fields;
  if (address === undefined) {
    const domain = normaliseDomain(textOf(fields, "domain") ?? "");
    const organization = textOf(fields, "organization");
    if (domain === null || organization === undefined) throw new BadValue("address");
    return { domain, organization };
  }
  const parsed = parseAddress(address.trim());
  if (parsed === null) throw new BadValue("address");
  const news: ContactNews = {
    address: parsed.address,
    domain: parsed.domain,
    evidence: [fields, ...sources].flatMap((source) => evidenceOf(source, today)),
  };
  for (const field of [
    "position",
    "networkA",
    "networkAUrl",
    "networkB",
    "phoneNumber",
    "organization",
  ] as const) {
    const text = textOf(fields, field);
    if (text !== undefined) news[field] = field === "networkAUrl" ? withoutCredentials(text) : text;
  }
  addName(news, fields);
  const type = wordOf(fields.type);
  if (type === "personal" || type === "generic") news.type = type;
  // Unknown words are ignored: seniority and department are then derived from the position.
  const seniority = SENIORITIES.find((name) => name === wordOf(fields.seniority));
  if (seniority !== undefined) news.seniority = seniority;
  const department = DEPARTMENTS.find((name) => name === wordOf(fields.department));
  if (department !== undefined) news.department = department;
  if (fields.confidence !== undefined) news.confidence = confidenceIn(fields.confidence);
  const verificationDate = dateOf(fields, "verificationDate");
  const status = VERIFICATION_STATUSES.find((name) => name === wordOf(fields.verificationStatus));
  if (status !== undefined && verificationDate !== undefined) {
    news.verification = { status, date: verificationDate };
  }
  return { news };
}

/** The parts of the full name fill absent names. A full name that cannot be split is kept whole. */
function addName(news: ContactNews, fields: FieldTexts): void {
  const [firstName, lastName] = [textOf(fields, "firstName"), textOf(fields, "lastName")];
  const fullName = textOf(fields, "fullName") ?? "";
  const name = firstName === undefined || lastName === undefined ? parseFullName(fullName) : null;
  if (name !== null) Object.assign(news, { firstName: name.firstName, lastName: name.lastName });
  else if (/\p{L}/u.test(fullName)) news.unsplitName = fullName;
  if (firstName !== undefined) news.firstName = firstName;
  if (lastName !== undefined) news.lastName = lastName;
}

function evidenceOf(source: FieldTexts, today: string): ContactEvidence[] {
  const uri = textOf(source, "sourceUri");
  if (uri === undefined) return [];
  if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri)) throw new BadValue("sourceUri");
  const [extractedOn, lastSeenOn] = [dateOf(source, "extractedOn"), dateOf(source, "lastSeenOn")];
  const [first = today, last = today] = [extractedOn ?? lastSeenOn, lastSeenOn ?? extractedOn];
  if (first > last) throw new BadValue("lastSeenOn");
  return [
    {
      domain: textOf(source, "sourceDomain") ?? new URL(uri).hostname,
      uri: withoutCredentials(uri),
      extractedOn: first,
      lastSeenOn: last,
      stillOnPage: truthOf(source.stillOnPage),
    },
  ];
}

/** The URL without user name and password; any other text unchanged. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/i.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href;
}

function textOf(fields: FieldTexts, field: ContactField): string | undefined {
  const text = fields[field]?.trim();
  if (text === undefined || text === "") return undefined;
  if (text.length > MAX_LENGTH || text.includes("\0")) throw new BadValue(field);
  return text;
}

function wordOf(text: string | undefined): string | undefined {
  return text?.trim().toLowerCase();
}

function confidenceIn(text: string): number {
  const confidence = Number(text);
  if (text.trim() === "" || !(confidence >= 0 && confidence <= 100)) throw new BadValue("confidence");
  return Math.round(confidence);
}

function dateOf(
  fields: FieldTexts,
  field: "extractedOn" | "lastSeenOn" | "verificationDate",
): string | undefined {
  const text = textOf(fields, field);
  if (text === undefined) return undefined;
  const date = text.slice(0, 10);
  if (!DATE.test(text) || !isDay(date)) throw new BadValue(field);
  return date;
}

/** Cache of valid dates: files contain few different ones. */
const knownDays = new Set<string>();
const MAX_KNOWN_DAYS = 10_000;

function isDay(date: string): boolean {
  if (knownDays.has(date)) return true;
  // `Date.parse` accepts the 31st of any month.
  const time = Date.parse(date);
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) return false;
  if (knownDays.size < MAX_KNOWN_DAYS) knownDays.add(date);
  return true;
}

/** Parses a boolean. Absent: `true`, the page still shows the address. */
function truthOf(text: string | undefined): boolean {
  const word = wordOf(text);
  if (word === undefined || word === "" || YES.has(word)) return true;
  if (NO.has(word)) return false;
  throw new BadValue("stillOnPage");
}
