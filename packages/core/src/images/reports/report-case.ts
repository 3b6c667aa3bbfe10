import { randomBytes } from "node:crypto";
import { ServiceError } from "../../errors.ts";
import { isWordOf, type JsonSchema } from "../../schema/json-schema.ts";
import { cleanName } from "../record/image-fields.ts";
import { isImageId, jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/record-codec.ts";

const REASONS = [
  ...(["intimate_image", "child_abuse", "privacy", "copyright"] as const),
  ...(["violence", "malware", "other"] as const),
];

export type ReportReason = (typeof REASONS)[number];

export const REPORT_SCHEMAS = {
  reason: {
    type: "string",
    enum: REASONS as readonly ReportReason[],
    description: "`intimate_image`: published without the consent of the person who is shown.",
  },
  statement: {
    type: "string",
    maxLength: 2000,
    description: "What is wrong with the image. Control characters other than line breaks are removed.",
  },
  contact: {
    type: "string",
    maxLength: 320,
    description:
      "How the operator can reach the reporter, such as an email address. The uploader never sees it. Erased 90 days after the decision.",
  },
} as const satisfies Record<string, JsonSchema>;

export type ReportFields = keyof typeof REPORT_SCHEMAS;

/** Listed first. Their texts have places of their own in a case, which those of other reasons cannot fill. */
const GRAVE: ReadonlySet<ReportReason> = new Set(["intimate_image", "child_abuse"]);

/** One report. */
export interface Report {
  reason: ReportReason;
  /** `null`: none; likewise `contact`. */
  statement: string | null;
  contact: string | null;
}

export const REPORT_DECISIONS = ["withheld", "removed", "kept"] as const;

export interface ReportDecision {
  decision: (typeof REPORT_DECISIONS)[number];
  /** Unix milliseconds. */
  at: number;
  /** The reason for the decision; `null`: none was given. */
  note: string | null;
  /** Who decided; `null`: not named, or the image had ended. */
  by: string | null;
}

/** The last text of a client for a reason. */
interface SentText {
  /** Tag of the client in this case; empty once its contact is erased. */
  client: string;
  reason: ReportReason;
  /** Empty: the report had none. */
  text: string;
}

/** The reports of an image from the first one until the decision. Dates are Unix milliseconds. */
export interface ReportCase {
  /** What each of its reporters got: 10 characters that cannot be guessed. */
  reference: string;
  receivedAt: number;
  /** When it must be decided. */
  dueAt: number;
  /** Number of reports. */
  count: number;
  /** Each reason once, in the order of arrival. */
  reasons: readonly ReportReason[];
  /** One of each client and reason, which its next one replaces. Likewise `contacts`, without empty ones. */
  statements: readonly SentText[];
  contacts: readonly SentText[];
  /** `null`: it is open. */
  decision: ReportDecision | null;
}

/** Statements of a case with grave reasons, and with others. With {@link MAX_CASES} they fit into the 16 MiB of a value in PostgreSQL. */
const MAX_TEXTS = 80;
const FULL_MS = 3_600_000;
/** Cases that are kept of one image. */
const MAX_CASES = 10;
const DAY_MS = 86_400_000;
const CONTACTS_MS = 90 * DAY_MS;
/** Decided cases are erased after this time. */
export const CASE_MS = 365 * DAY_MS;

export const REPORTS = "reports/";

export const reportsKeyOf = (id: string) => REPORTS + id;

/** The fields of a report, cleaned; or the names of wrong ones. */
export function parseReport(
  fields: Readonly<Record<string, unknown>>,
): { report: Report } | { faults: ReportFields[] } {
  const textOf = (name: "statement" | "contact") => {
    const value = fields[name] ?? "";
    if (typeof value !== "string") return undefined;
    const lines = value.replaceAll("\t", " ").split(/\r\n?|[\n\u0085\u2028\u2029]/u);
    const separator = name === "statement" ? "\n" : " ";
    const text = lines.map(cleanName).join(separator).trim();
    return [...text].length > REPORT_SCHEMAS[name].maxLength ? undefined : text || null;
  };
  const reason = isWordOf(REPORT_SCHEMAS.reason, fields.reason) ? fields.reason : undefined;
  const [statement, contact] = [textOf("statement"), textOf("contact")];
  if (reason !== undefined && statement !== undefined && contact !== undefined) {
    return { report: { reason, statement, contact } };
  }
  const values = { reason, statement, contact };
  return {
    faults: (["reason", "statement", "contact"] as const).filter((name) => values[name] === undefined),
  };
}

export function openCaseOf(cases: readonly ReportCase[]): ReportCase | undefined {
  return cases.find(({ decision }) => decision === null);
}

/**
 * The cases with one more report: joined to the open case, or as a new one. The newest case is the first.
 * @param client Tag of its client. @returns `null`: the open case has no place for its texts.
 */
function withReport(
  cases: readonly ReportCase[],
  { reason, statement, contact }: Report,
  client: string,
  now: number,
  dueMs: number,
): [joined: ReportCase, ...ReportCase[]] | null {
  const open = openCaseOf(cases) ?? {
    // 50 bits.
    reference: [...randomBytes(10)].map((byte) => LETTERS[byte % 32]).join(""),
    receivedAt: now,
    dueAt: now + dueMs,
    count: 0,
    reasons: [],
    statements: [],
    contacts: [],
    decision: null,
  };
  const withText = (sent: readonly SentText[], text: string | null): readonly SentText[] => {
    const isOwn = (each: SentText) => each.client === client && each.reason === reason;
    if (text === null && sent.some(isOwn)) return sent;
    return [...sent.filter((each) => !isOwn(each)), { client, reason, text: text ?? "" }];
  };
  const isRival = (each: SentText) => GRAVE.has(each.reason) === GRAVE.has(reason);
  let statements = withText(open.statements, statement);
  if (statements.length > open.statements.length && statements.filter(isRival).length > MAX_TEXTS) {
    if (statement !== null || contact !== null) return null;
    // Without texts, nothing is lost.
    statements = open.statements;
  }
  const joined: ReportCase = {
    ...open,
    count: open.count + 1,
    reasons: distinct([...open.reasons, reason]),
    statements,
    contacts: contact === null ? open.contacts : withText(open.contacts, contact),
  };
  return [joined, ...cases.filter((each) => each !== open).slice(0, MAX_CASES - 1)];
}

/** The cases with more reports; `null`: none has a place. @param refused Gets those that have none. */
export function withReports<Sent extends { report: Report; client: string }>(
  before: readonly ReportCase[],
  all: readonly Sent[],
  refused: Set<Sent>,
  now: number,
  dueMs: number,
): ReturnType<typeof withReport> {
  refused.clear();
  let cases: ReturnType<typeof withReport> = null;
  for (const each of all) {
    const more = withReport(cases ?? before, each.report, each.client, now, dueMs);
    if (more === null) refused.add(each);
    else cases = more;
  }
  return cases;
}

export function caseIsFull(): ServiceError {
  const message =
    "This image has more reports than the operator has decided yet. Send yours again later, or contact the operator";
  return new ServiceError("rate_limited", message, { retryAfterMs: FULL_MS });
}

/** Different texts, those with grave reasons first, else the oldest. */
export function textsOf(sent: readonly SentText[]): string[] {
  const texts = sent.toSorted((a, b) => Number(GRAVE.has(b.reason)) - Number(GRAVE.has(a.reason)));
  return distinct(texts.map(({ text }) => text).filter((text) => text !== ""));
}

/** What orders cases: those with grave reasons first, then those of more clients, then by `dueAt`. */
export function rankOf({ reasons, statements, dueAt }: ReportCase): number[] {
  const clients = new Set(statements.map(({ client }) => client)).size;
  return [reasons.some((reason) => GRAVE.has(reason)) ? 0 : 1, -clients, dueAt];
}

/** Orders cases by {@link rankOf}. */
export function byRank(a: { rank: readonly number[] }, b: { rank: readonly number[] }): number {
  return a.rank.map((rank, at) => rank - Number(b.rank[at])).find((by) => by !== 0) ?? 0;
}

/** Without letters and digits that look alike. */
const LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** When contacts and clients, or cases, must next be erased; `Infinity`: never, as no case is decided. */
export function nextErasureAt(cases: readonly ReportCase[]): number {
  const times = cases.map(({ decision, statements }) => {
    const hasClients = statements.some(({ client }) => client !== "");
    return decision === null ? Infinity : decision.at + (hasClients ? CONTACTS_MS : CASE_MS);
  });
  return Math.min(...times, Infinity);
}

/** The cases without what must be erased by now. */
export function erasedCases(cases: readonly ReportCase[], now: number): ReportCase[] {
  return cases
    .filter(({ decision }) => decision === null || decision.at + CASE_MS > now)
    .map((each) => {
      if (each.decision === null || each.decision.at + CONTACTS_MS > now) return each;
      return { ...each, contacts: [], statements: each.statements.map((sent) => ({ ...sent, client: "" })) };
    });
}

export function encodeCases(cases: readonly ReportCase[]): Buffer {
  return Buffer.from(JSON.stringify({ v: FORMAT_VERSION, cases }));
}

/** Decodes the reports of an image. Throws `damaged`, with the key, for bytes that are none, and for those of a newer release. */
export function decodeCases(bytes: Buffer, key: string): ReportCase[] {
  const { v, cases } = Object(jsonIn(bytes)) as { v?: unknown; cases?: unknown }; // Checked here.
  requireKnownVersion(v, `The reports of an image (key "${key}")`);
  const isWhole = isImageId(key.slice(REPORTS.length)) && Array.isArray(cases) && cases.every(isCase);
  if (isWhole) return cases;
  throw new ServiceError("damaged", `The reports of an image (key "${key}") are damaged`);
}

function isCase(value: unknown): value is ReportCase {
  const { reference, receivedAt, dueAt, count, decision, ...lists } = Object(value);
  const isDecided = Number.isSafeInteger(decision?.at) && REPORT_DECISIONS.includes(decision.decision);
  return (
    typeof reference === "string" &&
    [receivedAt, dueAt, count].every(Number.isSafeInteger) &&
    [lists.reasons, lists.statements, lists.contacts].every(Array.isArray) &&
    lists.reasons.every((reason: unknown) => typeof reason === "string") &&
    [...lists.statements, ...lists.contacts].every(isSent) &&
    (decision === null || isDecided)
  );
}

function isSent(value: unknown): boolean {
  const { client, reason, text } = Object(value);
  return [client, reason, text].every((each) => typeof each === "string");
}
