import {
  type FinishedRow,
  type ListEnd,
  type ListEnds,
  type ListSize,
  type SettledEnd,
  sharesOf,
  type TakenEnd,
  type TakenVerification,
  type VerificationList,
  type VerificationPlace,
  type VerificationQueue,
  type VerificationRow,
} from "../../contracts/verification-queue.ts";
import { ServiceError } from "../../errors.ts";
import { isCovered } from "../address/parse-address.ts";
import { LookupProblem } from "../lookup-problem.ts";
import { countAll, type EndedList, endIfDone, takeDue } from "./list-ends.ts";

interface MemoryList extends EndedList {
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

/** Maximum memory of all lists. */
const MAX_BYTES = 100 * 1024 * 1024;
/** Maximum memory of the lists of one account, so that no account keeps out all others. */
const MAX_ACCOUNT_BYTES = 0.8 * MAX_BYTES;
const ROW_BYTES = 300;
const RETRY_AFTER_MS = 60_000;
const ACCOUNT_RETRY_AFTER_MS = 86_400_000;
const ERASED = { email: "", subject: null, columns: null };

/** A queue in this process's memory, for tests and trials: its lists are lost when the process ends. */
export function createMemoryVerificationQueue(): VerificationQueue {
  return new QueueInMemory();
}

class QueueInMemory implements VerificationQueue {
  readonly #lists = new Map<string, MemoryList>();
  /** By account, the account that was served longest ago first. */
  readonly #waiting = new Map<string | null, WaitingRows>();
  #isClosed = false;

  async add(
    list: Parameters<VerificationQueue["add"]>[0],
    rows: readonly VerificationRow[],
    maxRows: number | null,
    { bytes, maxBytes }: ListSize = { bytes: 0, maxBytes: null },
    end?: ListEnd,
  ): Promise<boolean> {
    this.#mustBeOpen();
    const all = [...this.#lists.values()];
    const others = all.filter((each) => each.account === list.account && !each.isSingle);
    if (others.reduce((sum, each) => sum + each.rows.length, rows.length) > (maxRows ?? Infinity))
      return false;
    if (others.reduce((sum, each) => sum + each.bytes, bytes) > (maxBytes ?? Infinity)) return false;
    const added = { bytes, rows };
    if (list.account !== null && memoryOf([...others, added]) > MAX_ACCOUNT_BYTES) {
      const message = "The lists of the last 30 days would exceed the memory for the lists of one account";
      throw new LookupProblem("too_many_requests", message, { retryAfterMs: ACCOUNT_RETRY_AFTER_MS });
    }
    if (memoryOf([...all, added]) > MAX_BYTES) {
      throw new ServiceError("overloaded", "Too many addresses are kept in memory. Try again later.", {
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    const stored: MemoryList = { ...list, bytes, done: 0, isStarted: false, isSingle: false, rows: [] };
    this.#append(stored, rows, list.createdAt);
    endIfDone(stored, end);
    return true;
  }

  async addSingle(list: Parameters<VerificationQueue["addSingle"]>[0], row: VerificationRow): Promise<void> {
    this.#mustBeOpen();
    if (this.#lists.has(list.id)) return;
    const single = { header: null, bytes: 0, done: 0, isStarted: false, isSingle: true, rows: [] };
    this.#append({ ...list, ...single }, [row], 0);
  }

  async get(id: string): Promise<VerificationList | null> {
    this.#mustBeOpen();
    const known = this.#lists.get(id);
    if (known === undefined || known.isSingle) return null;
    const { rows, isSingle: _, bytes: _bytes, end: _end, ...list } = known;
    return { ...list, total: rows.length };
  }

  async rows(id: string, { offset, limit }: { offset: number; limit: number }): Promise<VerificationRow[]> {
    this.#mustBeOpen();
    const known = this.#lists.get(id);
    if (known === undefined || known.isSingle) return [];
    return known.rows
      .slice(offset, offset + limit)
      .map(({ given: { email, subject, columns }, result }) => ({ email, subject, columns, result }));
  }

  async take(
    limit: number,
    leaseMs: number,
    nowMs: number,
  ): Promise<{ rows: TakenVerification[]; nextDueMs: number | null }> {
    this.#mustBeOpen();
    const due = [...this.#waiting].filter(([, rows]) => rows.nextDueMs() <= nowMs);
    const taken: MemoryRow[] = [];
    const served = due.slice(0, limit);
    const { shares, order } = sharesOf(limit, served.length);
    for (const [index, [, rows]] of served.entries()) {
      taken.push(...rows.take(shares[index] ?? 0, leaseMs, nowMs));
    }
    // Accounts that were not served come first in the next call.
    for (const index of order) {
      const [account, rows] = served[index] ?? [];
      if (account === undefined || rows === undefined) continue;
      this.#waiting.delete(account);
      this.#waiting.set(account, rows);
    }
    // Some accounts may have had fewer rows than their share.
    for (const [, rows] of due) taken.push(...rows.take(limit - taken.length, leaseMs, nowMs));
    let nextDueMs = Number.POSITIVE_INFINITY;
    for (const [account, rows] of this.#waiting) {
      nextDueMs = Math.min(nextDueMs, rows.nextDueMs());
      if (rows.nextDueMs() === Number.POSITIVE_INFINITY) this.#waiting.delete(account);
    }
    return { rows: taken.map(takenRow), nextDueMs: Number.isFinite(nextDueMs) ? nextDueMs : null };
  }

  async finish(results: readonly FinishedRow[], end?: ListEnd): Promise<number> {
    this.#mustBeOpen();
    let count = 0;
    for (const { result, isErased, ...place } of results) {
      const row = this.#rowAt(place);
      if (row === undefined || row.dueMs === null) continue;
      this.#finish(row, result, end);
      if (isErased) row.given = ERASED;
      count++;
    }
    return count;
  }

  async postpone(place: VerificationPlace, untilMs: number, wasAttempt: boolean): Promise<void> {
    this.#mustBeOpen();
    const row = this.#rowAt(place);
    if (row === undefined || row.dueMs === null) return;
    if (wasAttempt) row.attempts++;
    this.#waitingOf(row.list.account).add([row], untilMs);
  }

  async erase(subject: string, result: string, end?: ListEnd): Promise<number> {
    this.#mustBeOpen();
    let count = 0;
    for (const row of [...this.#lists.values()].flatMap((list) => list.rows)) {
      if (row.given.subject === null || !isCovered(row.given.subject, subject)) continue;
      if (row.dueMs !== null) this.#finish(row, result, end);
      row.given = ERASED;
      row.result = result;
      count++;
    }
    return count;
  }

  async takeEnds(limit: number, leaseMs: number, nowMs: number): Promise<TakenEnd[]> {
    this.#mustBeOpen();
    return takeDue([...this.#lists.values()], limit, leaseMs, nowMs);
  }

  async settleEnd(
    { list, leaseUntilMs }: Pick<TakenEnd, "list" | "leaseUntilMs">,
    settled: SettledEnd,
  ): Promise<void> {
    this.#mustBeOpen();
    const end = this.#lists.get(list)?.end;
    if (end?.dueMs === leaseUntilMs) Object.assign(end, settled, { isDead: end.isDead || settled.isDead });
  }

  async countEnds(): Promise<ListEnds> {
    this.#mustBeOpen();
    return countAll([...this.#lists.values()]);
  }

  async removeBefore(createdBeforeMs: number): Promise<number> {
    this.#mustBeOpen();
    const old = [...this.#lists.values()].filter(({ createdAt }) => createdAt < createdBeforeMs);
    for (const { id, rows } of old) {
      this.#lists.delete(id);
      for (const row of rows) row.dueMs = null;
    }
    return old.length;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The queue of verifications is closed");
  }

  #waitingOf(account: string | null): WaitingRows {
    const known = this.#waiting.get(account) ?? new WaitingRows();
    this.#waiting.set(account, known);
    return known;
  }

  #append(list: MemoryList, given: readonly VerificationRow[], dueMs: number): void {
    this.#lists.set(list.id, list);
    list.rows = given.map((row, position) => ({
      given: row,
      result: row.result,
      list,
      position,
      dueMs: null,
      attempts: 0,
    }));
    const waiting = list.rows.filter(({ result }) => result === null);
    list.done = list.rows.length - waiting.length;
    this.#waitingOf(list.account).add(waiting, dueMs);
  }

  #rowAt({ list, position }: VerificationPlace): MemoryRow | undefined {
    return this.#lists.get(list)?.rows[position];
  }

  #finish(row: MemoryRow, result: string, end: ListEnd | undefined): void {
    row.result = result;
    row.dueMs = null;
    row.list.done++;
    endIfDone(row.list, end);
    if (row.list.isSingle) this.#lists.delete(row.list.id);
  }
}

/** Memory of lists, with what the queue needs beside each row. */
function memoryOf(lists: readonly { bytes: number; rows: readonly unknown[] }[]): number {
  return lists.reduce((sum, { bytes, rows }) => sum + bytes + rows.length * ROW_BYTES, 0);
}

/** The rows of one account that have no result. */
class WaitingRows {
  /** The row that is due first is the last entry. Entries of another time than that of their row are skipped. */
  #entries: { row: MemoryRow; dueMs: number }[] = [];

  /** Makes rows due at a time, in random order. */
  add(rows: readonly MemoryRow[], dueMs: number): void {
    const added = rows.map((row) => ({ row, dueMs }));
    for (const [index, entry] of added.entries()) {
      entry.row.dueMs = dueMs;
      const other = Math.floor(Math.random() * (index + 1));
      added[index] = added[other] ?? entry;
      added[other] = entry;
    }
    const later = this.#entries.findIndex((entry) => entry.dueMs <= dueMs);
    const start = later === -1 ? this.#entries.length : later;
    this.#entries = this.#entries.slice(0, start).concat(added, this.#entries.slice(start));
  }

  /** When the first row is due; infinite if there is none. */
  nextDueMs(): number {
    for (;;) {
      const last = this.#entries.at(-1);
      if (last === undefined) return Number.POSITIVE_INFINITY;
      if (last.row.dueMs === last.dueMs) return last.dueMs;
      this.#entries.pop();
    }
  }

  /** Takes rows that are due, at most `limit`. */
  take(limit: number, leaseMs: number, nowMs: number): MemoryRow[] {
    const taken: MemoryRow[] = [];
    while (taken.length < limit && this.nextDueMs() <= nowMs) {
      const row = this.#entries.pop()?.row;
      if (row === undefined) break;
      // A row that was postponed twice may have another entry of this time.
      row.dueMs = null;
      row.list.isStarted = true;
      taken.push(row);
    }
    if (taken.length > 0) this.add(taken, nowMs + leaseMs);
    return taken;
  }
}

function takenRow({ list, position, given, attempts }: MemoryRow): TakenVerification {
  const { id, account, plan, createdAt } = list;
  return { list: id, account, plan, createdAt, position, email: given.email, attempts };
}
