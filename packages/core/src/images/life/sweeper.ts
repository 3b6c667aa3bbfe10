import type { DueEntry } from "../../contracts/due-index.ts";
import type { Observer } from "../../contracts/observer.ts";
import { createClockGuard } from "./clock-guard.ts";
import type { LifeContext } from "./life-context.ts";
import { type Look, lookAfter } from "./look-after.ts";

/** What a sweep did, in numbers of images. */
export interface SweepReport {
  /** Looked at because something was due. */
  looked: number;
  /** Their bytes are gone; that they were there is remembered. */
  emptied: number;
  /** Nothing is known of them any more. */
  forgotten: number;
  /** Could not be looked after, e.g. because a store failed; `onError` was told. */
  failed: number;
}

export interface Sweeper {
  /** Begins to sweep every `sweepEveryMs`, where that is wanted. */
  start(): void;
  /** Does at once what is due by the clock. */
  sweep(): Promise<SweepReport>;
  /** Ends after what is under way. */
  close(): Promise<void>;
}

const BATCH = 200;
const AT_ONCE = 4;
/** What failed is tried again after this time, so that it does not stand in the way of what comes behind it. */
const POSTPONE_MS = 5 * 60_000;
/** At most so long after the start the first sweep comes: not all processes of an app at the same moment. */
const MAX_START_MS = 5_000;

export interface SweeperOptions {
  context: LifeContext;
  /** `null`: never by itself. */
  everyMs: number | null;
  /** Also swept: whatever else has dates. Resolves when done. */
  alsoSweep(): Promise<void>;
  /** @default nobody */
  observer?: Observer | null;
}

export function createSweeper({ context, everyMs, alsoSweep, observer }: SweeperOptions): Sweeper {
  const { due, settings } = context;
  const guard = createClockGuard();
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<SweepReport> | null = null;
  let isClosed = false;

  async function sweepAll(): Promise<SweepReport> {
    const report: SweepReport = { looked: 0, emptied: 0, forgotten: 0, failed: 0 };
    for (;;) {
      const entries = await due.due(settings.now(), BATCH);
      const { length } = entries;
      const failedBefore = report.failed;
      await Promise.all(Array.from({ length: AT_ONCE }, () => work(entries, report)));
      const isStuck = report.failed - failedBefore === length;
      if (isClosed || length < BATCH || isStuck) break;
    }
    await alsoSweep();
    return report;
  }

  /** Takes one entry after the other from a list that others take from as well. */
  async function work(entries: DueEntry[], report: SweepReport): Promise<void> {
    for (let entry = entries.shift(); entry !== undefined && !isClosed; entry = entries.shift()) {
      report.looked++;
      const look = await attempt(entry);
      if (look !== "kept") report[look]++;
    }
  }

  async function attempt(entry: DueEntry): Promise<Look | "failed"> {
    try {
      return await lookAfter(context, entry);
    } catch (error) {
      settings.onError(error);
      // Where this fails too, the entry stays and is found again.
      await postpone(entry).catch(settings.onError);
      return "failed";
    }
  }

  async function postpone(entry: DueEntry): Promise<void> {
    await due.add({ id: entry.id, dueMs: settings.now() + POSTPONE_MS });
    await due.remove(entry);
  }

  function sweep(): Promise<SweepReport> {
    underWay ??= (observer ? observer.observe({ kind: "sweep" }, sweepAll) : sweepAll()).finally(() => {
      underWay = null;
    });
    return underWay;
  }

  async function sweepByTimer(every: number): Promise<void> {
    try {
      if (guard.isTrusted()) await sweep();
      else
        settings.log.warn(
          {},
          "the clock jumped ahead: nothing is removed until it has been steady for an hour",
        );
    } catch (error) {
      settings.onError(error);
    }
    schedule(every, every);
  }

  function schedule(every: number, inMs: number): void {
    if (isClosed) return;
    timer = setTimeout(() => void sweepByTimer(every), inMs).unref();
  }

  return {
    start() {
      if (everyMs !== null) schedule(everyMs, Math.random() * Math.min(MAX_START_MS, everyMs));
    },
    sweep,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      // Whoever waits for it is told of its failure.
      await underWay?.catch(() => undefined);
    },
  };
}
