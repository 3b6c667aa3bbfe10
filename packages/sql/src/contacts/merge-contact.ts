import {
  type AddressType,
  type ContactVerification,
  classifyTitle,
  type Department,
  isRoleName,
  MAX_EVIDENCE,
  type Seniority,
} from "@outrigger/core/lookup";
import { PAGE_FIELDS, type PageField, type StoredContact, type StoredEvidence } from "./packed-contact.ts";

/** Days after which the weight of a page is halved. */
const HALF_LIFE_DAYS = 365;
/** Weight of a page that shows the address today. */
const STILL_THERE = 0.75;
/** Weight of a page that showed the address until today. */
const NO_LONGER_THERE = 0.4;
/** Weight of a page without dates: one of a year ago that no longer shows the address. */
const WITHOUT_DATE = 0.2;
/** Confidence of an address without any page: it was imported. */
const WITHOUT_EVIDENCE = 70;
/** The least confidence of an address whose latest verdict is `valid`. */
const VERIFIED = 95;
/** Upper bound: only the mail server itself could confirm more. */
const MAX_CONFIDENCE = 97;
const DAY_MS = 86_400_000;

/** New facts about an address. An absent field is unknown; `null` means that there is no value. */
export interface ContactNews {
  /** Normalised. */
  address: string;
  /** Domain of the address. */
  domain: string;
  /** Name of the person's organisation. */
  organization?: string;
  type?: AddressType;
  /** An integer from 0 to 100. */
  confidence?: number;
  firstName?: string | null;
  lastName?: string | null;
  /** A full name that cannot be split: the last name of a contact without a first name. */
  unsplitName?: string;
  position?: string | null;
  seniority?: Seniority | null;
  department?: Department | null;
  networkA?: string | null;
  networkAUrl?: string | null;
  networkB?: string | null;
  phoneNumber?: string | null;
  /** Without a date it counts from the day of the merge, and only if no verdict is known. */
  verification?: Pick<ContactVerification, "status"> & { date: string | null };
  evidence: readonly StoredEvidence[];
  /** Whether an indexed page is the origin. It fills in what an imported contact lacks, and replaces no imported value. */
  isFromPage?: boolean;
  /** Whether everything that pages gave to an imported contact is dropped. */
  isExpired?: boolean;
}

/**
 * Merges new facts into the known contact. A new value replaces the known one; absent values leave it. Pages are
 * merged by URI, each from its first to its last sighting. Merging the same news twice changes nothing.
 *
 * @param nowMs Unix milliseconds.
 */
export function mergeContact(stored: StoredContact | null, given: ContactNews, nowMs: number): StoredContact {
  const known = stored !== null && given.isExpired === true ? withoutPages(stored) : stored;
  const isFromPages = given.isFromPage === true && known?.isFromPages !== false;
  const news = given.isFromPage === true && known !== null && !isFromPages ? missingIn(known, given) : given;
  const position = latest(news.position, known?.position);
  // A known title is not classified again: its seniority and department may have been corrected since.
  const title = position !== null && position !== known?.position ? classifyTitle(position) : known;
  const evidence = mergeEvidence(known?.evidence ?? [], news.evidence);
  const local = news.address.slice(0, news.address.lastIndexOf("@"));
  const verification = laterVerdict(known?.verification, news.verification, nowMs);
  const calculated = confidenceOf(evidence, nowMs, verification);
  const wasGiven = known?.isConfidenceGiven === true ? known.confidence : undefined;
  const confidence = news.confidence ?? wasGiven ?? calculated;
  const firstName = latest(news.firstName, known?.firstName);
  const merged = {
    address: news.address,
    type: news.type ?? known?.type ?? (isRoleName(local) ? "generic" : "personal"),
    confidence,
    // Exports have calculated numbers, too.
    isConfidenceGiven: confidence !== calculated,
    organization: latest(news.organization, known?.organization),
    isFromPages,
    filledIn: [],
    firstName,
    lastName: latest(
      news.lastName === undefined && firstName === null ? news.unsplitName : news.lastName,
      known?.lastName,
    ),
    position,
    seniority: latest(news.seniority, title?.seniority),
    department: latest(news.department, title?.department),
    networkA: latest(news.networkA, known?.networkA),
    networkAUrl: latest(news.networkAUrl, known?.networkAUrl),
    networkB: latest(news.networkB, known?.networkB),
    phoneNumber: latest(news.phoneNumber, known?.phoneNumber),
    ...(verification === undefined ? {} : { verification }),
    evidence,
  };
  if (known === null || isFromPages) return merged;
  const mayFill = given.isFromPage === true ? isOpen(known) : isFilledIn(known, given);
  return { ...merged, filledIn: PAGE_FIELDS.filter((field) => merged[field] !== null && mayFill(field)) };
}

function withoutPages(known: StoredContact): StoredContact {
  const empty = Object.fromEntries(known.filledIn.map((field) => [field, null]));
  return { ...known, ...empty, evidence: known.evidence.filter(({ isIndexed }) => isIndexed !== true) };
}

/** Tells of a field whether no import gave its value. */
function isOpen(known: StoredContact): (field: PageField) => boolean {
  return (field) => known[field] === null || known.filledIn.includes(field);
}

/** Tells of a field whether pages filled it in, and no new import gives it. */
function isFilledIn(known: StoredContact, news: ContactNews): (field: PageField) => boolean {
  const given = new Set(Object.keys(news).filter((name) => Reflect.get(news, name) !== undefined));
  if (given.has("position")) given.add("seniority").add("department");
  if (given.has("unsplitName")) given.add("lastName");
  return (field) => (known.isFromPages || known.filledIn.includes(field)) && !given.has(field);
}

/** The facts that no import gave. A name is filled in as a whole. */
function missingIn(known: StoredContact, { address, domain, evidence, ...facts }: ContactNews): ContactNews {
  const { seniority, department } = known;
  const isMissing = isOpen(known);
  const isNamed = !isMissing("firstName") || !isMissing("lastName");
  const missing = PAGE_FIELDS.filter(
    (field) => isMissing(field) && !(isNamed && /^(?:first|last)Name$/.test(field)),
  );
  // Without these, a new position would replace them.
  const kept = {
    ...(isMissing("seniority") ? {} : { seniority }),
    ...(isMissing("department") ? {} : { department }),
  };
  const told = missing.flatMap((field) => (facts[field] === undefined ? [] : [[field, facts[field]]]));
  return { address, domain, evidence, ...Object.fromEntries(told), ...kept };
}

function laterVerdict(
  known: ContactVerification | undefined,
  news: ContactNews["verification"],
  nowMs: number,
): ContactVerification | undefined {
  if (news === undefined) return known;
  const { status, date } = news;
  if (known === undefined) return { status, date: date ?? new Date(nowMs).toISOString().slice(0, 10) };
  return date !== null && date >= known.date ? { status, date } : known;
}

function latest<T>(news: T | null | undefined, known: T | null | undefined): T | null {
  return news === undefined ? (known ?? null) : news;
}

function mergeEvidence(
  known: readonly StoredEvidence[],
  news: readonly StoredEvidence[],
): readonly StoredEvidence[] {
  if (news.length === 0) return known;
  const byUri = new Map<string, StoredEvidence>();
  for (const evidence of [...known, ...news]) {
    const other = byUri.get(evidence.uri);
    byUri.set(evidence.uri, other === undefined ? evidence : mergePage(other, evidence));
  }
  const pages = [...byUri.values()];
  if (pages.length > 1) pages.sort(bySeenLast);
  return pages.slice(0, MAX_EVIDENCE);
}

function mergePage(known: StoredEvidence, news: StoredEvidence): StoredEvidence {
  const isLater = (news.lastSeenOn ?? "") >= (known.lastSeenOn ?? "");
  const { domain, uri, lastSeenOn, stillOnPage } = isLater ? news : known;
  const [first = null] = [known.extractedOn, news.extractedOn].filter((day) => day !== null).sort();
  const isIndexed = known.isIndexed === true && news.isIndexed === true;
  return { domain, uri, extractedOn: first, lastSeenOn, stillOnPage, isIndexed };
}

function bySeenLast(a: StoredEvidence, b: StoredEvidence): number {
  const [ofA, ofB] = [a.lastSeenOn ?? "", b.lastSeenOn ?? ""];
  if (ofA !== ofB) return ofA < ofB ? 1 : -1;
  return a.uri < b.uri ? -1 : 1;
}

/**
 * Confidence that an address is correct, from 0 to 97: `1 − ∏(1 − w)` over the pages. The weight w of a page is
 * 0.75 if it still shows the address and 0.40 if not, halved for every 365 days since it was last seen. One page of
 * today gives 75, two give 94; one of two years ago gives 19. A page without dates weighs 0.20. Without any page: 70. At least 95
 * if the verdict is `valid`.
 *
 * @param nowMs Unix milliseconds.
 */
export function confidenceOf(
  evidence: readonly StoredEvidence[],
  nowMs: number,
  verification?: Pick<ContactVerification, "status">,
): number {
  const shown = evidence.length === 0 ? WITHOUT_EVIDENCE : shownOn(evidence, nowMs);
  return verification?.status === "valid" ? Math.max(VERIFIED, shown) : shown;
}

function shownOn(evidence: readonly StoredEvidence[], nowMs: number): number {
  let chanceOfError = 1;
  for (const { lastSeenOn, stillOnPage } of evidence) {
    if (lastSeenOn === null) {
      chanceOfError *= 1 - WITHOUT_DATE;
      continue;
    }
    const days = Math.max(0, (nowMs - Date.parse(lastSeenOn)) / DAY_MS);
    const share = stillOnPage ? STILL_THERE : NO_LONGER_THERE;
    chanceOfError *= 1 - share * 2 ** (-Math.floor(days) / HALF_LIFE_DAYS);
  }
  return Math.min(MAX_CONFIDENCE, Math.round(100 * (1 - chanceOfError)));
}
