import { randomBytes } from "node:crypto";
import { setImmediate as breathe } from "node:timers/promises";
import type { Account } from "../../contracts/accounts.ts";
import type {
  VerificationList,
  VerificationQueue,
  VerificationRow,
} from "../../contracts/verification-queue.ts";
import type { VerificationListAnswer, VerificationListData } from "../answers.ts";
import { csvLine } from "../csv-field.ts";
import type { LookupContext } from "../lookup-context.ts";
import { LookupProblem } from "../lookup-problem.ts";
import type { Suppressions } from "../suppressions.ts";
import type { ReadList } from "./list-rows.ts";
import { emailColumnOf } from "./read-table.ts";
import { CLAIMED, listedRow, RESULT_FIELDS } from "./row-result.ts";

const DAY_MS = 86_400_000;
/** How long a list is kept after it was added. */
export const KEPT_MS = 30 * DAY_MS;
/** Rows that an account may keep at a time, besides twice its monthly allowance. */
const KEPT_ROWS = 200_000;
/** Memory that each of these rows may use, on average over the account's lists. */
const KEPT_ROW_BYTES = 400;
/** Rows whose addresses are compared with the suppressions without a pause. */
const CHECKED_ROWS = 500;
const CLAIMED_ROW: VerificationRow = { email: "", subject: null, columns: null, result: CLAIMED };
/** Rows that are read from the queue at once. */
const PAGE_ROWS = 1000;

/** Adds a list that the runner verifies. Rejects with `too_many_requests` if the account keeps too many rows. */
export async function addList(
  { queue, wake, listEnd, settings, suppressions }: LookupContext,
  account: Account | null,
  { header, rows: given, bytes }: ReadList,
): Promise<VerificationListData> {
  const rows = await withoutSuppressed(suppressions, given);
  const id = randomBytes(16).toString("base64url");
  const allowance = account === null ? null : settings.allowanceOf(account).verifications;
  const list = {
    id,
    header,
    account: account?.id ?? null,
    plan: account?.plan ?? "",
    createdAt: settings.now(),
  };
  const maxRows = allowance === null ? null : KEPT_ROWS + 2 * allowance;
  const maxBytes = maxRows === null ? null : maxRows * KEPT_ROW_BYTES;
  if (!(await queue.add(list, rows, maxRows, { bytes, maxBytes }, listEnd()))) {
    const limits = `${maxRows} rows or ${KEPT_ROW_BYTES} bytes for each of them`;
    throw new LookupProblem("too_many_requests", `The lists of the last 30 days would exceed ${limits}`, {
      retryAfterMs: DAY_MS,
    });
  }
  wake();
  const done = rows.filter(({ result }) => result !== null).length;
  return { id, total: rows.length, done, status: done === rows.length ? "done" : "queued" };
}

/** The rows, those of suppressed addresses empty, as if they were erased later. */
async function withoutSuppressed(
  suppressions: Suppressions,
  given: readonly VerificationRow[],
): Promise<readonly VerificationRow[]> {
  if (await suppressions.isUnused()) return given;
  const rows = [...given];
  for (let start = 0; start < rows.length; start += CHECKED_ROWS) {
    const subjects = rows.slice(start, start + CHECKED_ROWS).map(({ subject }) => subject ?? "");
    const suppressed = await suppressions.among(subjects.filter((subject) => subject !== ""));
    for (const [index, subject] of subjects.entries()) {
      if (suppressed.has(subject)) rows[start + index] = CLAIMED_ROW;
    }
    await breathe();
  }
  return rows;
}

/** The list, if it belongs to the account and is not too old; `null` otherwise. */
export async function findList(
  { queue, settings }: LookupContext,
  id: string,
  isOwn: (list: VerificationList) => boolean,
): Promise<VerificationList | null> {
  const list = await queue.get(id);
  if (list === null || !isOwn(list) || list.createdAt + KEPT_MS <= settings.now()) return null;
  return list;
}

/** A page of a list as the API sends it. */
export async function listAnswer(
  { queue }: LookupContext,
  list: VerificationList,
  page: { offset: number; limit: number },
): Promise<VerificationListAnswer> {
  const rows = await queue.rows(list.id, page);
  return {
    data: { ...listData(list), results: rows.map(listedRow) },
    meta: { results: list.total, ...page },
  };
}

function listData({ id, total, done, isStarted }: VerificationList): VerificationListData {
  return { id, total, done, status: done === total ? "done" : isStarted ? "running" : "queued" };
}

/**
 * A list as CSV: the columns of the upload, and those of the results. A column of the upload with the name of
 * a result keeps its name; the result's is then prefixed with `verification_`.
 */
export async function* listCsv(
  { queue }: { queue: Pick<VerificationQueue, "rows"> },
  { id, header, total }: Pick<VerificationList, "id" | "header" | "total">,
): AsyncGenerator<string> {
  const given = header ?? ["email"];
  const column = emailColumnOf(given);
  const named = new Set(given.map((name) => name.trim().toLowerCase()));
  const own = RESULT_FIELDS.map((name) => (named.has(name) ? `verification_${name}` : name));
  yield csvLine([...given, ...own]);
  for (let offset = 0; offset < total; offset += PAGE_ROWS) {
    const rows = await queue.rows(id, { offset, limit: PAGE_ROWS });
    yield rows.map((row) => csvLine([...cellsOf(row, given, column), ...resultCells(row)])).join("");
  }
}

function cellsOf({ email, columns }: VerificationRow, header: readonly string[], column: number): string[] {
  return header.map((_, index) => (index === column ? email : (columns?.[index] ?? "")));
}

function resultCells(row: VerificationRow): (string | number | boolean)[] {
  const listed: Partial<Record<(typeof RESULT_FIELDS)[number], string | number | boolean | null>> =
    listedRow(row);
  return RESULT_FIELDS.map((name) => listed[name] ?? "");
}
