import {
  type ContactEvidence,
  DEPARTMENTS,
  normaliseDomain,
  parseFullName,
  parseMailboxes,
  SENIORITIES,
  VERIFICATION_STATUSES,
} from "@outrigger/core/lookup";
import type { ContactNews } from "../contacts/merge-contact.ts";
import { hostOfPage } from "./column-names.ts";
import { CONTACT_FIELDS, type ContactField, type FieldTexts } from "./contact-fields.ts";
import type { BadLine, FileLine } from "./file-line.ts";

/** The content of a line: facts about an address, or only the organisation of a domain. */
export type LineNews = { news: ContactNews } | { domain: string; organization: string };

/** Maximum length of the text of a field, in characters. */
const MAX_LENGTH = 2000;
/** Control characters but line breaks and tabs, and halves of characters. A value with NUL is damaged, and dropped. */
const CONTROLS = /(?![\0\t\r\n])[\p{Cc}\p{Cs}]+/gu;
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/;
const YES = new Set(["true", "1", "yes", "y"]);
const NO = new Set(["false", "0", "no", "n"]);
/** Words of verifiers, in letters, for the API's words. */
const VERDICTS = new Map(
  [
    ["valid", "verified deliverable"],
    ["accept_all", "acceptall catchall validcatchall verifiedcatchall"],
    ["invalid", "undeliverable bounced bounce hardbounce hardbounced"],
  ].flatMap(([status = "", words = ""]) => words.split(" ").map((word) => [word, status])),
);
/** Several phones in one text. */
const PHONE_BREAK = /\s*(?::::|[;|\r\n](?=\s*[+(\d]))\s*/;

type Drop = (field: ContactField) => void;

/** Reads the values of a line. An invalid one is left out, and its field reported to `drop`. */
export function newsOf(line: FileLine, drop: Drop): LineNews | BadLine {
  const field = CONTACT_FIELDS.find((each) => line.fields[each]?.includes("\uFFFD"));
  if (field !== undefined) return { line: line.line, reason: "encoding", field };
  const faults = new Set<ContactField>();
  const news = read(line, (fault) => faults.add(fault));
  if (news === null) return { line: line.line, reason: "address" };
  for (const fault of faults) drop(fault);
  return news;
}

/** @returns `null` without an address or the organisation of a domain. */
function read(line: FileLine, drop: Drop): LineNews | null {
  const { fields, sources } = line;
  if (!fields.address) {
    const domain = normaliseDomain(fieldText(fields, "domain", drop) ?? "");
    const organization = fieldText(fields, "organization", drop);
    return domain === null || organization === undefined ? null : { domain, organization };
  }
  const [mailbox, ...others] = parseMailboxes(fields.address);
  if (mailbox === undefined) return null;
  if (others.length > 0) drop("address");
  const news: ContactNews = {
    address: mailbox.address.address,
    domain: mailbox.address.domain,
    evidence: [fields, ...sources].flatMap((source) => evidenceOf(source, drop)),
  };
  for (const field of ["position", "networkA", "networkAUrl", "networkB", "organization"] as const) {
    const text = fieldText(fields, field, drop);
    if (text !== undefined) news[field] = field === "networkAUrl" ? withoutCredentials(text) : text;
  }
  const phone = phoneIn(fields, drop);
  if (phone !== undefined) news.phoneNumber = phone;
  addName(news, fields, mailbox.name, drop);
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
  const word = lowerCased(fields.verificationStatus) ?? "";
  const verdict = VERDICTS.get(word.replaceAll(/[^a-z]/g, "")) ?? word;
  const status = VERIFICATION_STATUSES.find((name) => name === verdict);
  // Where the file has dates, a verdict without one is not taken.
  const isDated = fields.verificationDate !== undefined;
  if (status !== undefined && (verificationDate !== undefined || !isDated)) {
    news.verification = { status, date: verificationDate ?? null };
  }
  return { news };
}

/**
 * The parts of the full name fill absent names. A full name in place of a part loses the other part. A full name that cannot be
 * split is kept whole.
 */
function addName(news: ContactNews, fields: FieldTexts, displayName: string | null, drop: Drop): void {
  const [first, last] = [fieldText(fields, "firstName", drop), fieldText(fields, "lastName", drop)];
  const known = first ?? last;
  if (first !== undefined)
    news.firstName = last && first.endsWith(` ${last}`) ? first.slice(0, -last.length - 1) : first;
  if (last !== undefined)
    news.lastName = first && last.startsWith(`${first} `) ? last.slice(first.length + 1) : last;
  const fullName = fieldText(fields, "fullName", drop) ?? (known === undefined ? displayName : null) ?? "";
  if ((first !== undefined && last !== undefined) || !/\p{L}/u.test(fullName)) return;
  const name = parseFullName(fullName);
  if (name === null) news.unsplitName = fullName;
  else {
    news.firstName ??= name.firstName;
    news.lastName ??= name.lastName;
  }
}

/** The first of several numbers. A text without digits is none, nor is one that a spreadsheet turned into `4.42E+11`. */
function phoneIn(fields: FieldTexts, drop: Drop): string | undefined {
  const text = fieldText(fields, "phoneNumber", drop);
  const [phone = "", ...others] = text?.split(PHONE_BREAK) ?? [];
  const isPhone = /\d/.test(phone) && !/^\d[.,\d]*E\+\d+$/i.test(phone);
  if (text !== undefined && (!isPhone || others.length > 0)) drop("phoneNumber");
  return isPhone ? phone : undefined;
}

/** A page without dates is one that nothing is known to have read. */
function evidenceOf(source: FieldTexts, drop: Drop): ContactEvidence[] {
  const uri = fieldText(source, "sourceUri", drop);
  if (uri === undefined) return [];
  const host = hostOfPage(uri);
  if (host === null) {
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
      domain: fieldText(source, "sourceDomain", drop) ?? host,
      uri: withoutCredentials(uri),
      extractedOn,
      lastSeenOn,
      stillOnPage: truthOf(source, drop) ?? lastSeenOn !== null,
    },
  ];
}

/** The URL without user name and password; any other text unchanged. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/i.test(text)) return text;
  try {
    const url = new URL(text);
    url.username = "";
    url.password = "";
    return url.href;
  } catch {
    return text; // Not a URL.
  }
}

function fieldText(fields: FieldTexts, field: ContactField, drop: Drop): string | undefined {
  const text = fields[field]?.replace(CONTROLS, " ").trim();
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
  const confidence = Number(text.replace(/ ?%$/, ""));
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

function isDay(date: string): boolean {
  // `Date.parse` accepts the 31st of any month.
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

/** Parses a boolean; `undefined` if it is absent. An invalid one confirms nothing. */
function truthOf(source: FieldTexts, drop: Drop): boolean | undefined {
  const word = lowerCased(source.stillOnPage);
  if (word === undefined || word === "") return undefined;
  if (YES.has(word)) return true;
  if (!NO.has(word)) drop("stillOnPage");
  return false;
}
