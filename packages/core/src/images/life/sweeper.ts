import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import type { Observer } from "../../contracts/observer.ts";
import { createClockGuard } from "./clock-guard.ts";
import type { LifeContext } from "./life-context.ts";
import type { SeenClock } from "./seen-clock.ts";
import { type SweepReport, sweepImages } from "./sweep-images.ts";

export interface SweepOptions {
  /** Gets the numbers so far after every image. */
  onProgress?(report: Readonly<SweepReport>): void;
}

export interface Sweeper {
  /** Begins to sweep every `everyMs`, where that is wanted, as long as the clock can be trusted. */
  start(): void;
  /** Does at once what is due by the clock, whatever that says. */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /** Ends after what is under way. */
  close(): Promise<void>;
}

export interface SweeperOptions {
  context: LifeContext;
  /** `null`: never by itself. */
  everyMs: number | null;
  /** All that images are kept in. One that is named twice is swept once. */
  stores: Iterable<BlobStore>;
  /** Also swept: whatever else has dates. Resolves when done. @param mayGoOn from `false` on nothing else is removed. */
  alsoSweep(mayGoOn: () => boolean): Promise<void>;
  seenClock: SeenClock;
  /** @default nobody */
  observer?: Observer | null;
}

/** At most so long after the start the first sweep comes: not all processes of an app at the same moment. */
const MAX_START_MS = 5_000;
/**
 * How long a store keeps the files of replaced blobs. A copy of its files that takes longer may lack some.
 */
export const SUPERSEDED_MS = 86_400_000;
const JUMPED = "the clock jumped ahead: nothing is removed until it has been steady for an hour";

export function createSweeper(options: SweeperOptions): Sweeper {
  const { context, everyMs, stores, alsoSweep, seenClock, observer = null } = options;
  const { settings } = context;
  const guard = createClockGuard();
  let hasRecalled = false;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<SweepReport> | null = null;
  /** What the timer began, with what goes before and after a sweep. */
  let byTimer: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function sweepAll(isTrusted: () => boolean, { onProgress }: SweepOptions): Promise<SweepReport> {
    // Before anything is removed, or noted: an empty store must stay as it is.
    await context.guard.confirm();
    const mayGoOn = () => !isClosed && isTrusted();
    const report = await sweepImages(context, mayGoOn, onProgress);
    if (mayGoOn()) await alsoSweep(mayGoOn);
    for (const store of new Set(stores)) if (mayGoOn()) await removeSuperseded(store, mayGoOn);
    return report;
  }

  /** Of a store that fails at it, the images are swept nevertheless. */
  async function removeSuperseded(store: BlobStore, mayGoOn: () => boolean): Promise<void> {
    if (!isLocalStore(store)) return;
    try {
      await store.removeSuperseded(settings.now() - SUPERSEDED_MS, mayGoOn);
    } catch (error) {
      settings.onError(error);
    }
  }

  function sweep(isTrusted: () => boolean, options: SweepOptions = {}): Promise<SweepReport> {
    const run = () => sweepAll(isTrusted, options);
    underWay ??= (observer === null ? run() : observer.observe({ kind: "sweep" }, run)).finally(() => {
      underWay = null;
    });
    return underWay;
  }

  async function sweepByTimer(every: number): Promise<void> {
    try {
      await context.guard.open();
      await recall();
      if (isClosed) return;
      if (guard.isTrusted()) {
        // First: on a full disk it makes the room that a note needs.
        await sweep(() => guard.isTrusted());
        if (!isClosed) await seenClock.note(Date.now());
      } else {
        settings.log.warn({}, JUMPED);
      }
    } catch (error) {
      settings.onError(error);
    }
    schedule(every, every);
  }

  async function recall(): Promise<void> {
    if (hasRecalled) return;
    const seenMs = await seenClock.last();
    if (seenMs !== null) guard.recall(seenMs);
    hasRecalled = true;
  }

  function schedule(every: number, inMs: number): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      byTimer = sweepByTimer(every);
    }, inMs).unref();
  }

  return {
    start() {
      if (everyMs !== null) schedule(everyMs, Math.random() * Math.min(MAX_START_MS, everyMs));
    },
    async sweep(options) {
      // One that began earlier may have seen less. Whoever waits for it is told of its failure.
      await underWay?.catch(() => undefined);
      return sweep(() => true, options);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await byTimer;
      // Whoever waits for it is told of its failure.
      await underWay?.catch(() => undefined);
    },
  };
}
