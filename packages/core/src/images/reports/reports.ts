import { setTimeout as delay } from "node:timers/promises";
import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { PolledValue } from "../../async/polled-value.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, onCode, ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
import { createDueList, type DueList, sweepDue } from "../../stores/due-list.ts";
import { listAll, Unreadable } from "../../stores/list-all.ts";
import { isImageId } from "../record/image-record.ts";
import type { ImageRecords } from "../record/image-records.ts";
import { stateAt } from "../record/image-state.ts";
import {
  byRank,
  CASE_MS,
  caseIsFull,
  decodeCases,
  encodeCases,
  erasedCases,
  nextErasureAt,
  openCaseOf,
  REPORTS,
  type Report,
  type ReportCase,
  type ReportDecision,
  rankOf,
  reportsKeyOf,
  textsOf,
  withReports,
} from "./report-case.ts";

/** The reports of an image, from the first until the decision. */
export interface ImageReport extends Omit<ReportCase, "statements" | "contacts"> {
  /** ID of the image. It may be gone. */
  id: string;
  /** Different ones: the last of each client and reason, those with grave reasons first. Likewise `contacts`. */
  statements: readonly string[];
  contacts: readonly string[];
}

export interface ReportsOptions {
  store: BlobStore;
  records: Pick<ImageRecords, "load">;
  now(): number;
  log: { info(fields: object, text: string): void };
  onError(error: unknown): void;
  /** Called before a case is stored, so that its event is never lost. */
  announce(id: string, opened: ReportCase): Promise<void>;
}

/** A report and its caller. */
interface PendingReport {
  report: Report;
  client: string;
  resolve(joined: ReportCase): void;
  reject(error: unknown): void;
}

const MAX_ATTEMPTS = 100;
const MAX_PAUSE_MS = 50;
/** Most entries that a due list returns. */
const MAX_DUE = 1000;
const READ_AT_ONCE = 8;
/** Overdue cases that a sweep looks at. */
const SWEPT = 200;

/** Due lists in the store of the records: open cases by their `dueAt`, and decided ones by their next erasure. */
export function reportLists(store: BlobStore): { open: DueList; erasures: DueList } {
  return { open: createDueList(store, "reports"), erasures: createDueList(store, "erasures") };
}

/** Adds the entries that some cases need, and others do not have. They come before the cases, so that none is ever without. */
export async function scheduleCases(
  { open, erasures }: ReturnType<typeof reportLists>,
  id: string,
  cases: readonly ReportCase[],
  before: readonly ReportCase[] = [],
): Promise<void> {
  const [dueAt, erasureAt] = [openCaseOf(cases)?.dueAt, nextErasureAt(cases)];
  if (dueAt !== undefined && dueAt !== openCaseOf(before)?.dueAt) await open.add({ id, dueMs: dueAt });
  if (erasureAt !== Infinity && erasureAt !== nextErasureAt(before))
    await erasures.add({ id, dueMs: erasureAt });
}

/**
 * Reports of images, one blob for each image, changed by compare-and-set. Those that arrive during a write share the next one. The
 * blob does not belong to the image, so it outlives it.
 */
export class Reports {
  readonly #options: ReportsOptions;
  readonly #lists: ReturnType<typeof reportLists>;
  readonly #queues = new Map<string, PendingReport[]>();
  /** Open cases whose time is over, up to 1000. */
  readonly overdue: PolledValue<number>;

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#lists = reportLists(options.store);
    this.overdue = new PolledValue(
      0,
      async () => (await this.#lists.open.due(options.now(), MAX_DUE)).length,
    );
  }

  /** Stores a report. @param dueMs Time for the decision. @param client Its tag. @returns its case. Rejects with `rate_limited`. */
  file(id: string, report: Report, dueMs: number, client = "code"): Promise<ReportCase> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(id) ?? [];
      queue.push({ report, client, resolve, reject });
      if (this.#queues.has(id)) return;
      this.#queues.set(id, queue);
      void this.#work(id, queue, dueMs);
    });
  }

  /** Never rejects: each caller gets its own failure. */
  async #work(id: string, queue: PendingReport[], dueMs: number): Promise<void> {
    const { now, log } = this.#options;
    for (let batch = queue.splice(0); batch.length > 0; batch = queue.splice(0)) {
      try {
        const refused = new Set<PendingReport>();
        const joined = await this.#change(id, (cases) => withReports(cases, batch, refused, now(), dueMs));
        for (const { reject } of refused) reject(caseIsFull());
        if (joined === null) continue;
        const [{ reasons, count }] = joined;
        log.info({ id, reasons, count }, "image reported");
        for (const each of batch) if (!refused.has(each)) each.resolve(joined[0]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#queues.delete(id);
  }

  /** Lists cases: those with grave reasons first, then those of more clients, then by `dueAt`. */
  async *list(state?: "open" | "decided"): AsyncGenerator<ImageReport> {
    const isWanted = ({ decision }: ReportCase) =>
      state === undefined || (decision === null) === (state === "open");
    const due = state === "open" ? await this.#lists.open.due(Infinity, MAX_DUE) : null;
    const unreadable = new Unreadable();
    const isInList = due !== null && due.length < MAX_DUE;
    const ids = isInList ? new Set(due.map(({ id }) => id)) : this.#ids(unreadable.note);
    const found: { id: string; reference: string; rank: number[] }[] = [];
    // Without the texts: there may be many.
    await forEachAtOnce(ids, READ_AT_ONCE, async (id) => {
      for (const each of (await this.#readable(id)).filter(isWanted)) {
        found.push({ id, reference: each.reference, rank: rankOf(each) });
      }
    });
    for (const { id, reference } of found.sort(byRank)) {
      const cases = (await this.#readable(id)).filter((each) => each.reference === reference);
      for (const each of cases.filter(isWanted)) {
        yield { id, ...each, statements: textsOf(each.statements), contacts: textsOf(each.contacts) };
      }
    }
    unreadable.throwAny();
  }

  /**
   * Decides the open case of an image.
   * @returns whether it had one. @param isExpected Whether to reject if it has none: `conflict` if it is decided, else `not_found`.
   */
  async decide(
    id: string,
    given: Pick<ReportDecision, "decision"> & { note?: string | undefined; by?: string | undefined },
    isExpected = false,
  ): Promise<boolean> {
    const { now, log } = this.#options;
    const { decision, note = null, by = null } = given;
    const changed = await this.#change(id, (cases) => {
      const open = openCaseOf(cases);
      if (open === undefined) {
        if (!isExpected) return null;
        if (cases.length > 0) throw new ServiceError("conflict", "The reports of this image are decided");
        throw new ServiceError("not_found", "This image was not reported");
      }
      return cases.map((each) =>
        each === open ? { ...each, decision: { decision, at: now(), note, by } } : each,
      );
    });
    if (changed !== null) log.info({ id, decision }, "report decided");
    return changed !== null;
  }

  /** The case of an image that was decided last. */
  async lastDecided(id: string): Promise<ReportCase | undefined> {
    return (await this.#read(id)).cases.find(({ decision }) => decision !== null);
  }

  /** Erases what has been kept long enough, and decides overdue cases whose image has ended. */
  async sweep(mayGoOn: () => boolean): Promise<void> {
    const { now, records, onError } = this.#options;
    const { open, erasures } = this.#lists;
    await sweepDue(erasures, now(), (id) => this.#erase(id), onError);
    const overdue = await open.due(now(), MAX_DUE);
    // Those of living images stay, and must not hide the others.
    const from = Math.floor(Math.random() * overdue.length);
    for (const entry of [...overdue.slice(from), ...overdue.slice(0, from)].slice(0, SWEPT)) {
      if (!mayGoOn()) return;
      const { id } = entry;
      try {
        // What a crash left, between the entry and the case or after the decision.
        if (openCaseOf((await this.#read(id)).cases)?.dueAt !== entry.dueMs) await open.remove(entry);
        else {
          const current = await records.load(id);
          const isOver = current === null || stateAt(current.record, now()).isOver;
          if (isOver) await this.decide(id, { decision: "removed", note: "The image had ended." });
        }
      } catch (error) {
        onError(error);
      }
    }
  }

  /** Erases cases, and their blob once the image is forgotten: no report can arrive then. */
  async #erase(id: string): Promise<void> {
    const { now, records, store } = this.#options;
    const erase = (cases: readonly ReportCase[]) => (cases.length === 0 ? null : erasedCases(cases, now()));
    const left = (await this.#change(id, erase)) ?? [];
    if (left.length > 0) return;
    const current = await records.load(id).catch(onCode("damaged", undefined));
    if (current === null) await store.delete(reportsKeyOf(id));
    else await this.#lists.erasures.add({ id, dueMs: now() + CASE_MS });
  }

  /** Applies a change by compare-and-set. @returns the cases after it; `null`: `revise` changes nothing. */
  async #change<N extends readonly ReportCase[] | null>(
    id: string,
    revise: (cases: readonly ReportCase[]) => N,
  ): Promise<N> {
    const { store } = this.#options;
    const key = reportsKeyOf(id);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const { cases, revision } = await this.#read(id);
      const next = revise(cases);
      if (next === null) return next;
      await scheduleCases(this.#lists, id, next, cases);
      const opened = openCaseOf(cases) === undefined ? openCaseOf(next) : undefined;
      // A damaged record has no place for it.
      if (opened !== undefined) await this.#options.announce(id, opened).catch(onCode("damaged", undefined));
      try {
        await store.put(key, encodeCases(next), { ifRevision: revision });
        const closed = openCaseOf(cases);
        if (closed !== undefined && openCaseOf(next) === undefined) {
          await this.#lists.open.remove({ id, dueMs: closed.dueAt });
        }
        return next;
      } catch (error) {
        if (!isServiceError(error, "conflict")) throw error;
        await delay(Math.random() * Math.min(MAX_PAUSE_MS, 2 ** attempt));
      }
    }
    throw new ServiceError("overloaded", "Too many changes of this image's reports at once", {
      retryAfterMs: 2000,
    });
  }

  /** Damaged reports cannot be decided. New ones replace them. */
  async #read(id: string): Promise<{ cases: ReportCase[]; revision: string | null }> {
    const key = reportsKeyOf(id);
    const blob = await this.#options.store.get(key);
    if (blob === null) return { cases: [], revision: null };
    const { revision } = blob;
    try {
      return { cases: decodeCases(await readAll(blob.body), key), revision };
    } catch (error) {
      if (!isServiceError(error, "damaged")) throw error;
      this.#options.onError(error);
      return { cases: [], revision };
    }
  }

  /** The cases of an image for a list, which goes on after a failure. */
  async #readable(id: string): Promise<ReportCase[]> {
    try {
      return (await this.#read(id)).cases;
    } catch (error) {
      this.#options.onError(error);
      return [];
    }
  }

  async *#ids(onUnreadable?: Unreadable["note"]): AsyncGenerator<string> {
    for await (const key of listAll(this.#options.store, REPORTS, onUnreadable)) {
      const id = key.slice(REPORTS.length);
      if (isImageId(id)) yield id;
    }
  }
}
