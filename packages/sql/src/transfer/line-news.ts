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
import { hostOfPage, urlOf } from "./column-names.ts";
import { CONTACT_FIELDS, type ContactField, type FieldTexts } from "./contact-fields.ts";
import type { BadLine, FileLine } from "./file-line.ts";

/** The content of a line: facts about an address, or only the organisation of a domain. */
export type LineNews = { news: ContactNews } | { domain: string; organization: string };

/** Maximum length of the text of a field, in characters. */
const MAX_LENGTH = 2000;
/** Control characters but line breaks and tabs, and halves of characters. A value with NUL is damaged, and dropped. */
const CONTROLS = /(?![\0\t\r\n])[\p{Cc}\p{Cs}]+/gu;
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/;
const TRUTHS = new Map([
  ...["true", "1", "yes", "y"].map((word): [string, boolean] => [word, true]),
  ...["false", "0", "no", "n"].map((word): [string, boolean] => [word, false]),
]);
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
function read({ fields, sources }: FileLine, drop: Drop): LineNews | null {
  const value = valuesOf(fields, drop);
  const organization = value("organization", (text) => text);
  if (!fields.address) {
    const domain = normaliseDomain(value("domain", (text) => text) ?? "");
    return domain === null || organization === undefined ? null : { domain, organization };
  }
  const [mailbox, ...others] = parseMailboxes(fields.address);
  if (mailbox === undefined) return null;
  if (others.length > 0) drop("address");
  const [phone, ...phones] = value("phoneNumber", phonesIn) ?? [];
  if (phones.length > 0) drop("phoneNumber");
  const [type, seniority, department] = [fields.type, fields.seniority, fields.department].map((text) =>
    text?.toLowerCase(),
  );
  const news = {
    address: mailbox.address.address,
    domain: mailbox.address.domain,
    evidence: [fields, ...sources].flatMap((source) => evidenceOf(source, drop)),
    ...namesIn(value, mailbox.name),
    organization,
    position: value("position", (text) => text),
    networkA: value("networkA", (text) => text),
    networkAUrl: value("networkAUrl", withoutCredentials),
    networkB: value("networkB", (text) => text),
    phoneNumber: phone,
    type: (["personal", "generic"] as const).find((name) => name === type),
    // Unknown words are ignored: seniority and department are then derived from the position.
    seniority: SENIORITIES.find((name) => name === seniority),
    department: DEPARTMENTS.find((name) => name === department),
    confidence: value("confidence", percentIn),
    verification: verificationIn(fields, value("verificationDate", dayIn)),
  };
  return { news: present(news) };
}

type Value = <T>(field: ContactField, read: (text: string) => T | undefined) => T | undefined;

/** Reads values of fields. One that is not valid is dropped. */
function valuesOf(fields: FieldTexts, drop: Drop): Value {
  return (field, read) => {
    const text = fields[field]?.replace(CONTROLS, " ").trim();
    if (!text) return undefined;
    const value = text.length <= MAX_LENGTH && !text.includes("\0") ? read(text) : undefined;
    if (value === undefined) drop(field);
    return value;
  };
}

/** The type of an object without its undefined values. */
type Present<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };

function present<T extends object>(values: T): Present<T> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  // `Object.fromEntries` does not keep the types of the values.
  return Object.fromEntries(entries) as Present<T>;
}

/** The parts of the full name fill absent names. A full name that cannot be split is kept whole. */
function namesIn(value: Value, displayName: string | null) {
  const [first, last, full] = (["firstName", "lastName", "fullName"] as const).map((field) =>
    value(field, (text) => text),
  );
  // `Name` beside `Vorname` is read as both; it is the last name unless it has the first one, too.
  const isShared = full !== undefined && (full === first) !== (full === last);
  const other = full === first ? last : first;
  const isPart = !isShared || (other && !full.toLowerCase().includes(other.toLowerCase()));
  if (first && last && isPart) return { firstName: first, lastName: last };
  const [firstName, lastName] = [first, last].map((part) => (isShared && part === full ? undefined : part));
  const fullName = full ?? (first || last ? "" : (displayName ?? ""));
  const isName = /\p{L}/u.test(fullName);
  const name = isName ? parseFullName(fullName) : null;
  return {
    firstName: firstName ?? name?.firstName,
    lastName: lastName ?? name?.lastName,
    unsplitName: isName && name === null ? fullName : undefined,
  };
}

/** The numbers of a text. A text without digits has none, nor one that a spreadsheet turned into `4.42E+11`. */
function phonesIn(text: string): string[] | undefined {
  const phones = text.split(PHONE_BREAK);
  return /\d/.test(phones[0] ?? "") && !/^\d[.,\d]*E\+\d+$/i.test(phones[0] ?? "") ? phones : undefined;
}

function verificationIn(fields: FieldTexts, date: string | undefined): ContactNews["verification"] {
  const word = fields.verificationStatus?.toLowerCase() ?? "";
  const verdict = VERDICTS.get(word.replaceAll(/[^a-z]/g, "")) ?? word;
  const status = VERIFICATION_STATUSES.find((name) => name === verdict);
  // Where the file has dates, a verdict without one is not taken.
  const isTaken = date !== undefined || fields.verificationDate === undefined;
  return status !== undefined && isTaken ? { status, date: date ?? null } : undefined;
}

/** A page without dates is one that nothing is known to have read. */
function evidenceOf(source: FieldTexts, drop: Drop): ContactEvidence[] {
  const value = valuesOf(source, drop);
  const uri = value("sourceUri", (text) => (hostOfPage(text) === null ? undefined : text));
  if (uri === undefined) return [];
  const [first, seen] = [value("extractedOn", dayIn), value("lastSeenOn", dayIn)];
  const isTurned = first !== undefined && seen !== undefined && first > seen;
  if (isTurned) drop("lastSeenOn");
  const last = isTurned ? first : seen;
  const lastSeenOn = last ?? first ?? null;
  // An invalid word confirms nothing.
  const isSeen = !source.stillOnPage && lastSeenOn !== null;
  return [
    {
      domain: value("sourceDomain", (text) => text) ?? hostOfPage(uri) ?? "",
      uri: withoutCredentials(uri),
      extractedOn: first ?? last ?? null,
      lastSeenOn,
      stillOnPage: value("stillOnPage", (text) => TRUTHS.get(text.toLowerCase())) ?? isSeen,
    },
  ];
}

/** The URL without user name and password; any other text unchanged. */
function withoutCredentials(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*@/i.test(text) ? urlOf(text) : null;
  return url === null ? text : Object.assign(url, { username: "", password: "" }).href;
}

function percentIn(text: string): number | undefined {
  const percent = Number(text.replace(/ ?%$/, ""));
  return percent >= 0 && percent <= 100 ? Math.round(percent) : undefined;
}

/** The day of a date or a time. */
function dayIn(text: string): string | undefined {
  const day = text.slice(0, 10);
  // `Date.parse` accepts the 31st of any month.
  const time = DATE.test(text) ? Date.parse(day) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) ? day : undefined;
}
