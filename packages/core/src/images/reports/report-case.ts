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
  /** Different ones, oldest first: of more than {@link MAX_TEXTS}, the first and the last half. Likewise `contacts`. */
  statements: readonly string[];
  contacts: readonly string[];
  /** `null`: it is open. */
  decision: ReportDecision | null;
}

const MAX_TEXTS = 20;
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

/** The cases with more reports: joined to the open case, or as a new one. The newest case is the first. */
export function withReports(
  cases: readonly ReportCase[],
  reports: readonly Report[],
  now: number,
  dueMs: number,
): [joined: ReportCase, ...ReportCase[]] {
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
  const texts = (old: readonly string[], name: "statement" | "contact") => {
    const all = distinct([...old, ...reports.map((report) => report[name]).filter((text) => text !== null)]);
    // Neither the first reports nor many later ones can shut out the others.
    return all.length <= MAX_TEXTS ? all : [...all.slice(0, MAX_TEXTS / 2), ...all.slice(-MAX_TEXTS / 2)];
  };
  const joined: ReportCase = {
    ...open,
    count: open.count + reports.length,
    reasons: distinct([...open.reasons, ...reports.map(({ reason }) => reason)]),
    statements: texts(open.statements, "statement"),
    contacts: texts(open.contacts, "contact"),
  };
  return [joined, ...cases.filter((each) => each !== open).slice(0, MAX_CASES - 1)];
}

/** Without letters and digits that look alike. */
const LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** When contacts or cases must next be erased; `Infinity`: never, as no case is decided. */
export function nextErasureAt(cases: readonly ReportCase[]): number {
  const times = cases.map(({ decision, contacts }) =>
    decision === null ? Infinity : decision.at + (contacts.length > 0 ? CONTACTS_MS : CASE_MS),
  );
  return Math.min(...times, Infinity);
}

/** The cases without what must be erased by now. */
export function erasedCases(cases: readonly ReportCase[], now: number): ReportCase[] {
  return cases
    .filter(({ decision }) => decision === null || decision.at + CASE_MS > now)
    .map((each) =>
      each.decision === null || each.decision.at + CONTACTS_MS > now ? each : { ...each, contacts: [] },
    );
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
    [lists.reasons, lists.statements, lists.contacts].every(
      (list) => Array.isArray(list) && list.every((text) => typeof text === "string"),
    ) &&
    (decision === null || isDecided)
  );
}
