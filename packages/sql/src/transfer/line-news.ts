import {
  type ContactEvidence,
  DEPARTMENTS,
  normaliseDomain,
  parseAddress,
  parseFullName,
  SENIORITIES,
  VERIFICATION_STATUSES,
} from "@outrigger/core/lookup";
import type { ContactNews } from "../contacts/merge-contact.ts";
import type { ContactField, FieldTexts } from "./contact-fields.ts";
import type { BadLine, FileLine } from "./file-line.ts";

/** The content of a line: facts about an address, or only the organisation of a domain. */
export type LineNews = { news: ContactNews } | { domain: string; organization: string };

/** Maximum length of the text of a field, in characters. */
const MAX_LENGTH = 2000;
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/;
const YES = new Set(["true", "1", "yes", "y"]);
const NO = new Set(["false", "0", "no", "n"]);

type Drop = (field: ContactField) => void;

/** Reads the values of a line. An invalid one is left out, and its field reported to `drop`. */
export function newsOf({ line, fields, sources, dropped }: FileLine, drop: Drop): LineNews | BadLine {
  const faults = new Set(dropped);
  const news = read(fields, sources, (field) => faults.add(field));
  if (news === null) return { line, reason: "address" };
  for (const field of faults) drop(field);
  return news;
}

/** @returns `null` without an address or the organisation of a domain. */
function read(fields: FieldTexts, sources: readonly FieldTexts[], drop: Drop): LineNews | null {
  const { address } = fields;
  if (address === undefined) {
    const domain = normaliseDomain(fieldText(fields, "domain", drop) ?? "");
    const organization = fieldText(fields, "organization", drop);
    return domain === null || organization === undefined ? null : { domain, organization };
  }
  const parsed = parseAddress(address.trim());
  if (parsed === null) return null;
  const news: ContactNews = {
    address: parsed.address,
    domain: parsed.domain,
    evidence: [fields, ...sources].flatMap((source) => evidenceOf(source, drop)),
  };
  for (const field of [
    "position",
    "networkA",
    "networkAUrl",
    "networkB",
    "phoneNumber",
    "organization",
  ] as const) {
    const text = fieldText(fields, field, drop);
    if (text !== undefined) news[field] = field === "networkAUrl" ? withoutCredentials(text) : text;
  }
  addName(news, fields, drop);
  const type = lowerCased(fields.type);
  if (type === "personal" || type === "generic") news.type = type;
  // Unknown words are ignored: seniority and department are then derived from the position.
  const seniority = SENIORITIES.find((name) => name === lowerCased(fields.seniority));
  if (seniority !== undefined) news.seniority = seniority;
  const department = DEPARTMENTS.find((name) => name === lowerCased(fields.department));
  if (department !== undefined) news.department = department;
  const confidence = confidenceIn(fields, drop);
  if (confidence !== undefined) news.confidence = confidence;
  const verificationDate = dateOf(fields, "verificationDate", drop);
  const status = VERIFICATION_STATUSES.find((name) => name === lowerCased(fields.verificationStatus));
  if (status !== undefined && verificationDate !== undefined) {
    news.verification = { status, date: verificationDate };
  }
  return { news };
}

/** The parts of the full name fill absent names. A full name that cannot be split is kept whole. */
function addName(news: ContactNews, fields: FieldTexts, drop: Drop): void {
  const [firstName, lastName] = [fieldText(fields, "firstName", drop), fieldText(fields, "lastName", drop)];
  const fullName = fieldText(fields, "fullName", drop) ?? "";
  const name = firstName === undefined || lastName === undefined ? parseFullName(fullName) : null;
  if (name !== null) Object.assign(news, { firstName: name.firstName, lastName: name.lastName });
  else if (/\p{L}/u.test(fullName)) news.unsplitName = fullName;
  if (firstName !== undefined) news.firstName = firstName;
  if (lastName !== undefined) news.lastName = lastName;
}

/** A page without dates is one that nothing is known to have read. */
function evidenceOf(source: FieldTexts, drop: Drop): ContactEvidence[] {
  const uri = fieldText(source, "sourceUri", drop);
  if (uri === undefined) return [];
  if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri)) {
    drop("sourceUri");
    return [];
  }
  const [first, seen] = [dateOf(source, "extractedOn", drop), dateOf(source, "lastSeenOn", drop)];
  const isTurned = first !== undefined && seen !== undefined && first > seen;
  if (isTurned) drop("lastSeenOn");
  const last = isTurned ? first : seen;
  const [extractedOn = null, lastSeenOn = null] = [first ?? last, last ?? first];
  return [
    {
      domain: fieldText(source, "sourceDomain", drop) ?? new URL(uri).hostname,
      uri: withoutCredentials(uri),
      extractedOn,
      lastSeenOn,
      stillOnPage: truthOf(source, drop) ?? lastSeenOn !== null,
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

function fieldText(fields: FieldTexts, field: ContactField, drop: Drop): string | undefined {
  const text = fields[field]?.trim();
  if (text === undefined || text === "") return undefined;
  if (text.length <= MAX_LENGTH && !text.includes("\0")) return text;
  drop(field);
  return undefined;
}

function lowerCased(text: string | undefined): string | undefined {
  return text?.trim().toLowerCase();
}

function confidenceIn(fields: FieldTexts, drop: Drop): number | undefined {
  const text = fieldText(fields, "confidence", drop);
  if (text === undefined) return undefined;
  const confidence = Number(text);
  if (confidence >= 0 && confidence <= 100) return Math.round(confidence);
  drop("confidence");
  return undefined;
}

function dateOf(
  fields: FieldTexts,
  field: "extractedOn" | "lastSeenOn" | "verificationDate",
  drop: Drop,
): string | undefined {
  const text = fieldText(fields, field, drop);
  if (text === undefined) return undefined;
  const date = text.slice(0, 10);
  if (DATE.test(text) && isDay(date)) return date;
  drop(field);
  return undefined;
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

/** Parses a boolean; `undefined` if it is absent. An invalid one confirms nothing. */
function truthOf(source: FieldTexts, drop: Drop): boolean | undefined {
  const word = lowerCased(source.stillOnPage);
  if (word === undefined || word === "") return undefined;
  if (YES.has(word)) return true;
  if (!NO.has(word)) drop("stillOnPage");
  return false;
}
