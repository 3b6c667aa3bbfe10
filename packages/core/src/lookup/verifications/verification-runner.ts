import { isSettledWithin } from "../../async/settled-within.ts";
import type { TakenVerification, VerificationPlace } from "../../contracts/verification-queue.ts";
import { isServiceError } from "../../errors.ts";
import type { LookupContext } from "../lookup-context.ts";
import { createRowPace } from "./row-pace.ts";
import { KEPT_MS } from "./verification-lists.ts";
import { unknownResult, verifyRow } from "./verify-row.ts";

/** Verifies the rows of the queue, at most `atOnce` at a time, while the process runs. */
export interface VerificationRunner {
  /** Looks for rows at once. */
  wake(): void;
  /**
   * Takes no more rows; resolves when none is under way, or after `timeoutMs`. Rows that end later are given back to
   * the queue.
   */
  stop(timeoutMs: number): Promise<void>;
  /** Resolves when no row is under way. */
  settled(): Promise<void>;
}

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

export function createVerificationRunner(context: LookupContext, atOnce: number): VerificationRunner {
  const { queue, suppressions, settings } = context;
  const { now, onError } = settings;
  const paces = {
    domains: createRowPace(DOMAIN_SPACING_MS, now),
    accounts: createRowPace(ACCOUNT_SPACING_MS, now),
  };
  const underWay = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by the monotonic clock. */
  let firesAtMs = Number.POSITIVE_INFINITY;
  let isTaking = false;
  /** Whether a call of `wake` arrived while rows were taken. */
  let isWoken = false;
  let isStopped = atOnce === 0;
  /** Whether probes are aborted, so that a verdict may be incomplete. */
  let isAborting = false;
  /** Whether the queue may have rows that are due. */
  let hasMore = false;
  let isFailing = false;
  let removedAtMs = Number.NEGATIVE_INFINITY;
  const save = createSaving((results) => queue.finish(results));

  function schedule(delayMs: number): void {
    const atMs = performance.now() + delayMs;
    if (isStopped || firesAtMs <= atMs) return;
    clearTimeout(timer);
    firesAtMs = atMs;
    timer = setTimeout(() => void take(), delayMs).unref();
  }

  async function take(): Promise<void> {
    firesAtMs = Number.POSITIVE_INFINITY;
    if (isTaking || isStopped) {
      isWoken = true;
      return;
    }
    isTaking = true;
    isWoken = false;
    let delayMs = POLL_MS;
    try {
      // No verdict before the list of suppressions is verified.
      await suppressions.ready();
      await removeOld();
      const free = atOnce - underWay.size;
      const { rows, nextDueMs } =
        free > 0 ? await queue.take(free, LEASE_MS, now()) : { rows: [], nextDueMs: null };
      for (const row of rows) start(row);
      hasMore = free <= 0 || rows.length === free;
      if (nextDueMs !== null && !hasMore) {
        delayMs = Math.min(POLL_MS, Math.max(GATHER_MS, nextDueMs - now()));
      }
      isFailing = false;
    } catch (error) {
      fail(error);
      delayMs = PAUSE_MS;
    } finally {
      isTaking = false;
    }
    const isMore = isWoken || (hasMore && underWay.size < atOnce);
    schedule(isMore ? GATHER_MS : delayMs);
  }

  async function removeOld(): Promise<void> {
    if (performance.now() - removedAtMs < HOUR_MS) return;
    removedAtMs = performance.now();
    await queue.removeBefore(now() - KEPT_MS);
  }

  /** Reports the first of several failures. */
  function fail(error: unknown): void {
    if (!isFailing && !isStopped) onError(error);
    isFailing = true;
    hasMore = false;
  }

  function start(row: TakenVerification): void {
    const work = run(row)
      .catch(fail)
      .finally(() => {
        underWay.delete(work);
        if (hasMore) schedule(GATHER_MS);
      });
    underWay.add(work);
  }

  async function run(row: TakenVerification): Promise<void> {
    const outcome = await verifyRow(context, paces, row).catch((error) => onFailure(row, error));
    if (isAborting) await queue.postpone(row, now(), false);
    else if ("result" in outcome) {
      await save({ list: row.list, position: row.position, result: outcome.result });
    } else {
      await queue.postpone(row, outcome.untilMs, outcome.wasAttempt);
      schedule(Math.max(GATHER_MS, outcome.untilMs - now()));
    }
  }

  /** An unavailable store fails every row: then the leases lapse. Any other error concerns one row. */
  async function onFailure(row: TakenVerification, error: unknown) {
    if (isAborting || isServiceError(error, "store_unavailable") || isServiceError(error, "host_misuse")) {
      throw error;
    }
    onError(error);
    if (row.attempts + 1 >= MAX_FAILURES) return unknownResult(context, row.email);
    return { untilMs: now() + RETRY_MS, wasAttempt: true };
  }

  schedule(START_MS);
  return {
    wake: () => schedule(0),
    async stop(timeoutMs) {
      isStopped = true;
      clearTimeout(timer);
      await isSettledWithin(Promise.allSettled(underWay), timeoutMs);
      isAborting = true;
    },
    async settled() {
      await Promise.allSettled(underWay);
    },
  };
}

type Finished = VerificationPlace & { result: string };

/** Returns a function that saves results, those that arrive during a save together in the next one. */
function createSaving(
  finish: (results: readonly Finished[]) => Promise<unknown>,
): (result: Finished) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  let open: { results: Finished[]; saved: Promise<unknown> } | null = null;

  return async (result) => {
    if (open === null) {
      const results: Finished[] = [];
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
