import { isSettledWithin } from "../../async/settled-within.ts";
import type { FinishedRow, TakenVerification } from "../../contracts/verification-queue.ts";
import { isServiceError } from "../../errors.ts";
import type { LookupContext } from "../lookup-context.ts";
import { createRowPace, type RowPaces } from "./row-pace.ts";
import { KEPT_MS } from "./verification-lists.ts";
import { type RowOutcome, unknownResult, verifyRow } from "./verify-row.ts";

/**
 * Time after which another process takes over the rows of a process that died. It exceeds the longest time that a
 * row takes: waiting for mail servers, and the calls of the stores.
 */
const LEASE_MS = 40_000;
/** How often the queue is read for rows that other processes added, or that lapsed. */
const POLL_MS = 15_000;
/** Delay after the start, and after a row has ended, so that several are taken in one call. */
const START_MS = 1000;
const GATHER_MS = 20;
/** Delay after a failure of the queue or of another store. */
const PAUSE_MS = 5000;
/** Time between rows that wait for the same mail host, and for the points of one account. */
const DOMAIN_SPACING_MS = 500;
const ACCOUNT_SPACING_MS = 10;
const HOUR_MS = 3_600_000;
/** Failures of one row, each a minute apart, before it gets the verdict `unknown`. */
const MAX_FAILURES = 5;
const RETRY_MS = 60_000;

/** Verifies the rows of the queue, at most `atOnce` at a time, while the process runs. */
export class VerificationRunner {
  readonly #context: LookupContext;
  readonly #atOnce: number;
  readonly #paces: RowPaces;
  readonly #save: (result: FinishedRow) => Promise<void>;
  readonly #underWay = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by the monotonic clock. */
  #firesAtMs = Number.POSITIVE_INFINITY;
  #isTaking = false;
  /** Whether a call of `wake` arrived while rows were taken. */
  #isWoken = false;
  #isStopped: boolean;
  /** Whether probes are aborted, so that a verdict may be incomplete. */
  #isAborting = false;
  /** Whether the queue may have rows that are due. */
  #hasMore = false;
  #isFailing = false;
  #removedAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: LookupContext, atOnce: number) {
    const { now } = context.settings;
    this.#context = context;
    this.#atOnce = atOnce;
    this.#isStopped = atOnce === 0;
    this.#paces = {
      domains: createRowPace(DOMAIN_SPACING_MS, now),
      accounts: createRowPace(ACCOUNT_SPACING_MS, now),
    };
    this.#save = createSaving((results) => context.queue.finish(results, context.listEnd()));
    this.#schedule(START_MS);
  }

  /** Looks for rows at once. */
  wake(): void {
    this.#schedule(0);
  }

  /**
   * Takes no more rows; resolves when none is under way, or after `timeoutMs`. Rows that end later are given back to
   * the queue.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await isSettledWithin(Promise.allSettled(this.#underWay), timeoutMs);
    this.#isAborting = true;
  }

  /** Resolves when no row is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  #schedule(delayMs: number): void {
    const atMs = performance.now() + delayMs;
    if (this.#isStopped || this.#firesAtMs <= atMs) return;
    clearTimeout(this.#timer);
    this.#firesAtMs = atMs;
    this.#timer = setTimeout(() => void this.#take(), delayMs).unref();
  }

  async #take(): Promise<void> {
    this.#firesAtMs = Number.POSITIVE_INFINITY;
    if (this.#isTaking || this.#isStopped) {
      this.#isWoken = true;
      return;
    }
    this.#isTaking = true;
    this.#isWoken = false;
    let delayMs: number;
    try {
      delayMs = await this.#takeDue();
      this.#isFailing = false;
    } catch (error) {
      this.#fail(error);
      delayMs = PAUSE_MS;
    } finally {
      this.#isTaking = false;
    }
    const isMore = this.#isWoken || (this.#hasMore && this.#underWay.size < this.#atOnce);
    this.#schedule(isMore ? GATHER_MS : delayMs);
  }

  /** Starts as many due rows as are free. Resolves to the delay until the queue is read again. */
  async #takeDue(): Promise<number> {
    const { queue, suppressions, settings } = this.#context;
    // No verdict before the list of suppressions is verified.
    await suppressions.ready();
    await this.#removeOld();
    const free = this.#atOnce - this.#underWay.size;
    const none = { rows: [], nextDueMs: null };
    const { rows, nextDueMs } = free > 0 ? await queue.take(free, LEASE_MS, settings.now()) : none;
    for (const row of rows) this.#start(row);
    this.#hasMore = free <= 0 || rows.length === free;
    if (nextDueMs === null || this.#hasMore) return POLL_MS;
    return Math.min(POLL_MS, Math.max(GATHER_MS, nextDueMs - settings.now()));
  }

  async #removeOld(): Promise<void> {
    if (performance.now() - this.#removedAtMs < HOUR_MS) return;
    this.#removedAtMs = performance.now();
    const { queue, settings } = this.#context;
    await queue.removeBefore(settings.now() - KEPT_MS);
  }

  /** Reports the first of several failures. */
  #fail(error: unknown): void {
    if (!this.#isFailing && !this.#isStopped) this.#context.settings.onError(error);
    this.#isFailing = true;
    this.#hasMore = false;
  }

  #start(row: TakenVerification): void {
    const work = this.#run(row)
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#underWay.delete(work);
        if (this.#hasMore) this.#schedule(GATHER_MS);
      });
    this.#underWay.add(work);
  }

  async #run(row: TakenVerification): Promise<void> {
    const { queue, settings } = this.#context;
    const attempt = verifyRow(this.#context, this.#paces, row);
    const outcome = await attempt.catch((error) => this.#afterFailure(row, error));
    if (this.#isAborting) await queue.postpone(row, settings.now(), false);
    else if ("result" in outcome) {
      await this.#save({ list: row.list, position: row.position, ...outcome });
    } else {
      await queue.postpone(row, outcome.untilMs, outcome.wasAttempt);
      this.#schedule(Math.max(GATHER_MS, outcome.untilMs - settings.now()));
    }
  }

  /** An unavailable store fails every row: then the leases lapse. Any other error concerns one row. */
  async #afterFailure(row: TakenVerification, error: unknown): Promise<RowOutcome> {
    const isOfAll = isServiceError(error, "store_unavailable") || isServiceError(error, "host_misuse");
    if (this.#isAborting || isOfAll) throw error;
    const { now, onError } = this.#context.settings;
    onError(error);
    if (row.attempts + 1 >= MAX_FAILURES) return unknownResult(this.#context, row.email);
    return { untilMs: now() + RETRY_MS, wasAttempt: true };
  }
}

/** Returns a function that saves results, those that arrive during a save together in the next one. */
function createSaving(
  finish: (results: readonly FinishedRow[]) => Promise<unknown>,
): (result: FinishedRow) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  let open: { results: FinishedRow[]; saved: Promise<unknown> } | null = null;

  return async (result) => {
    if (open === null) {
      const results: FinishedRow[] = [];
      const saved = last.then(() => {
        open = null;
        return finish(results);
      });
      open = { results, saved };
      last = saved.catch(() => undefined); // The callers receive the failure.
    }
    open.results.push(result);
    await open.saved;
  };
}
