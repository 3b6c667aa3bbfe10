import {
  sharesOf,
  type VerificationList,
  type VerificationPlace,
  type VerificationQueue,
  type VerificationRow,
} from "../../contracts/verification-queue.ts";
import { ServiceError } from "../../errors.ts";
import { LookupProblem } from "../lookup-problem.ts";
import { createDueHeap, type DueHeap } from "./due-heap.ts";

interface MemoryList extends Omit<VerificationList, "total"> {
  isSingle: boolean;
  bytes: number;
  rows: MemoryRow[];
}

interface MemoryRow {
  /** Without its text once it is erased. */
  given: Pick<VerificationRow, "email" | "subject" | "columns">;
  result: string | null;
  list: MemoryList;
  position: number;
  /** `null` once it has a result. */
  dueMs: number | null;
  attempts: number;
}

/** Maximum memory of all lists, with what the queue needs beside each row. */
const MAX_BYTES = 100 * 1024 * 1024;
/** Maximum memory of the lists of one account, so that no account keeps out all others. */
const MAX_ACCOUNT_BYTES = 0.8 * MAX_BYTES;
const ROW_BYTES = 300;
const RETRY_AFTER_MS = 60_000;
const ACCOUNT_RETRY_AFTER_MS = 86_400_000;
const ERASED = { email: "", subject: null, columns: null };

/** The rows of one account that have no result. */
type Waiting = DueHeap<MemoryRow>;

/** A queue in this process's memory, for tests and trials: its lists are lost when the process ends. */
export function createMemoryVerificationQueue(): VerificationQueue {
  const lists = new Map<string, MemoryList>();
  /** By account, the account that was served longest ago first. */
  const waiting = new Map<string | null, Waiting>();
  let isClosed = false;

  function mustBeOpen(): void {
    if (isClosed) throw new ServiceError("store_unavailable", "The queue of verifications is closed");
  }

  function waitingOf(account: string | null): Waiting {
    const known = waiting.get(account) ?? createDueHeap(isWaiting);
    waiting.set(account, known);
    return known;
  }

  function append(list: MemoryList, given: readonly VerificationRow[], dueMs: number): void {
    lists.set(list.id, list);
    list.rows = given.map((row, position) => ({
      ...{ given: row, result: null, list, position, dueMs, attempts: 0 },
    }));
    const heap = waitingOf(list.account);
    for (const row of list.rows) heap.push(row, dueMs);
  }

  function rowAt({ list, position }: VerificationPlace): MemoryRow | undefined {
    return lists.get(list)?.rows[position];
  }

  /** Rows of the account that are due, at most `limit`. */
  function takeOf(heap: Waiting, limit: number, leaseMs: number, nowMs: number): MemoryRow[] {
    const taken: MemoryRow[] = [];
    while (taken.length < limit && (heap.nextDueMs() ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const row = heap.pop();
      if (row === undefined) break;
      taken.push(row);
      row.list.isStarted = true;
      row.dueMs = nowMs + leaseMs;
      heap.push(row, row.dueMs);
    }
    return taken;
  }

  function finish(row: MemoryRow, result: string): void {
    row.result = result;
    row.dueMs = null;
    row.list.done++;
    if (row.list.isSingle) lists.delete(row.list.id);
  }

  return {
    async add(list, rows, maxRows, { bytes, maxBytes } = { bytes: 0, maxBytes: null }) {
      mustBeOpen();
      const others = [...lists.values()].filter((each) => each.account === list.account && !each.isSingle);
      if (others.reduce((sum, each) => sum + each.rows.length, rows.length) > (maxRows ?? Infinity))
        return false;
      if (others.reduce((sum, each) => sum + each.bytes, bytes) > (maxBytes ?? Infinity)) return false;
      const sizeWith = (known: readonly MemoryList[]) =>
        [...known, { bytes, rows }].reduce((sum, each) => sum + each.bytes + each.rows.length * ROW_BYTES, 0);
      if (list.account !== null && sizeWith(others) > MAX_ACCOUNT_BYTES) {
        const message = "The lists of the last 30 days would exceed the memory for the lists of one account";
        throw new LookupProblem("too_many_requests", message, { retryAfterMs: ACCOUNT_RETRY_AFTER_MS });
      }
      if (sizeWith([...lists.values()]) > MAX_BYTES) {
        throw new ServiceError("overloaded", "Too many addresses are kept in memory. Try again later.", {
          retryAfterMs: RETRY_AFTER_MS,
        });
      }
      append({ ...list, bytes, done: 0, isStarted: false, isSingle: false, rows: [] }, rows, list.createdAt);
      return true;
    },
    async addSingle(list, row) {
      mustBeOpen();
      if (lists.has(list.id)) return;
      const single = { header: null, bytes: 0, done: 0, isStarted: false, isSingle: true, rows: [] };
      append({ ...list, ...single }, [row], 0);
    },
    async get(id) {
      mustBeOpen();
      const known = lists.get(id);
      if (known === undefined || known.isSingle) return null;
      const { rows, isSingle: _, bytes: _bytes, ...list } = known;
      return { ...list, total: rows.length };
    },
    async rows(id, { offset, limit }) {
      mustBeOpen();
      const known = lists.get(id);
      if (known === undefined || known.isSingle) return [];
      return known.rows
        .slice(offset, offset + limit)
        .map(({ given: { email, subject, columns }, result }) => ({ email, subject, columns, result }));
    },
    async take(limit, leaseMs, nowMs) {
      mustBeOpen();
      const due = [...waiting].filter(([, heap]) => (heap.nextDueMs() ?? Number.POSITIVE_INFINITY) <= nowMs);
      const taken: MemoryRow[] = [];
      const served = due.slice(0, limit);
      const { shares, order } = sharesOf(limit, served.length);
      for (const [index, [, heap]] of served.entries()) {
        taken.push(...takeOf(heap, shares[index] ?? 0, leaseMs, nowMs));
      }
      // Accounts that were not served come first in the next call.
      for (const index of order) {
        const [account, heap] = served[index] ?? [];
        if (account === undefined || heap === undefined) continue;
        waiting.delete(account);
        waiting.set(account, heap);
      }
      // Some accounts may have had fewer rows than their share.
      for (const [, heap] of due) taken.push(...takeOf(heap, limit - taken.length, leaseMs, nowMs));
      for (const [account, heap] of waiting) if (heap.nextDueMs() === null) waiting.delete(account);
      const next = [...waiting.values()].flatMap((heap) => heap.nextDueMs() ?? []);
      return {
        rows: taken.map(({ list, position, given, attempts }) => ({
          ...{ list: list.id, account: list.account, plan: list.plan, createdAt: list.createdAt },
          ...{ position, email: given.email, attempts },
        })),
        nextDueMs: next.length === 0 ? null : Math.min(...next),
      };
    },
    async finish(results) {
      mustBeOpen();
      let count = 0;
      for (const { result, ...place } of results) {
        const row = rowAt(place);
        if (row === undefined || row.dueMs === null) continue;
        finish(row, result);
        count++;
      }
      return count;
    },
    async postpone(place, untilMs, wasAttempt) {
      mustBeOpen();
      const row = rowAt(place);
      if (row === undefined || row.dueMs === null) return;
      row.dueMs = untilMs;
      if (wasAttempt) row.attempts++;
      waitingOf(row.list.account).push(row, untilMs);
    },
    async erase(subject, result) {
      mustBeOpen();
      let count = 0;
      for (const row of [...lists.values()].flatMap((list) => list.rows)) {
        if (row.given.subject === null || !isCovered(row.given.subject, subject)) continue;
        if (row.dueMs !== null) finish(row, result);
        row.given = ERASED;
        row.result = result;
        count++;
      }
      return count;
    },
    async removeBefore(createdBeforeMs) {
      mustBeOpen();
      const old = [...lists.values()].filter(({ createdAt }) => createdAt < createdBeforeMs);
      for (const { id, rows } of old) {
        lists.delete(id);
        for (const row of rows) row.dueMs = null;
      }
      return old.length;
    },
    async close() {
      isClosed = true;
    },
  };
}

function isWaiting(row: MemoryRow, dueMs: number): boolean {
  return row.dueMs === dueMs;
}

/** Whether `subject` is this address or domain, or an address of the domain or of one below it. */
function isCovered(address: string, subject: string): boolean {
  return address === subject || address.endsWith(`@${subject}`) || isBelow(address, subject);
}

function isBelow(address: string, subject: string): boolean {
  return !subject.includes("@") && address.endsWith(`.${subject}`);
}
