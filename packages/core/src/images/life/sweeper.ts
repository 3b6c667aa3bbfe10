import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import type { Observer } from "../../contracts/observer.ts";
import { createClockGuard, type SeenClock } from "./clock-guard.ts";
import type { LifeContext } from "./life-context.ts";
import { type SweepReport, sweepImages } from "./sweep-images.ts";

export interface SweepOptions {
  /** Called with the numbers so far after every image. */
  onProgress?(report: Readonly<SweepReport>): void;
}

export interface Sweeper {
  /** Starts a sweep every `everyMs`, while the clock is trusted. `null`: does nothing. */
  start(): void;
  /** Sweeps now everything that is due by the clock, trusted or not. */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /** Resolves when no sweep is running. */
  close(): Promise<void>;
}

export interface SweeperOptions {
  context: LifeContext;
  /** `null`: sweeps run only on demand. */
  everyMs: number | null;
  /** All stores of the images. A store listed twice is swept once. */
  stores: Iterable<BlobStore>;
  /** Sweeps everything else that expires. @param mayGoOn After `false`, nothing else may be removed. */
  alsoSweep(mayGoOn: () => boolean): Promise<void>;
  seenClock: SeenClock;
  /** @default none */
  observer?: Observer | null;
}

/**
 * The first sweep starts at a random time within this period, so that the processes of an app do not sweep all at
 * once.
 */
const MAX_START_MS = 5_000;
/** How long a store keeps the files of replaced blobs. A backup copy that takes longer may lack some. */
const SUPERSEDED_MS = 86_400_000;
const JUMPED = "the clock jumped ahead: nothing is removed until it has been steady for an hour";

export function createSweeper(options: SweeperOptions): Sweeper {
  return new TimedSweeper(options);
}

class TimedSweeper implements Sweeper {
  readonly #options: SweeperOptions;
  readonly #clock = createClockGuard();
  #hasRecalled = false;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<SweepReport> | null = null;
  /** The current run of the timer, including the work before and after its sweep. */
  #byTimer: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  start(): void {
    const { everyMs } = this.#options;
    if (everyMs !== null) this.#schedule(everyMs, Math.random() * Math.min(MAX_START_MS, everyMs));
  }

  async sweep(options: SweepOptions = {}): Promise<SweepReport> {
    // An earlier sweep may have missed entries. Its failure goes to its own caller.
    await this.#underWay?.catch(() => undefined);
    return this.#sweepOnce(() => true, options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#byTimer;
    await this.#underWay?.catch(() => undefined); // Its caller receives the failure.
  }

  #sweepOnce(isTrusted: () => boolean, options: SweepOptions): Promise<SweepReport> {
    const { observer = null } = this.#options;
    const run = () => this.#sweepAll(isTrusted, options);
    this.#underWay ??= (observer === null ? run() : observer.observe({ kind: "sweep" }, run)).finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  async #sweepAll(isTrusted: () => boolean, { onProgress }: SweepOptions): Promise<SweepReport> {
    const { context, stores, alsoSweep } = this.#options;
    // Before the first removal: an empty store must stay unchanged.
    await context.guard.confirmAll();
    const mayGoOn = () => !this.#isClosed && isTrusted();
    const report = await sweepImages(context, mayGoOn, onProgress);
    if (mayGoOn()) await alsoSweep(mayGoOn);
    if (mayGoOn()) await context.owners.moveEarlier(mayGoOn);
    for (const store of new Set(stores)) if (mayGoOn()) await removeSuperseded(context, store, mayGoOn);
    return report;
  }

  #schedule(everyMs: number, inMs: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#byTimer = this.#sweepByTimer(everyMs);
    }, inMs).unref();
  }

  async #sweepByTimer(everyMs: number): Promise<void> {
    const { context, seenClock } = this.#options;
    try {
      await context.guard.open();
      await this.#recall();
      if (this.#isClosed) return;
      if (this.#clock.isTrusted()) {
        // Sweep first: on a full disk it makes room for the note.
        await this.#sweepOnce(() => this.#clock.isTrusted(), {});
        if (!this.#isClosed) await seenClock.note(Date.now());
      } else {
        context.settings.log.warn({}, JUMPED);
      }
    } catch (error) {
      context.settings.onError(error);
    }
    this.#schedule(everyMs, everyMs);
  }

  async #recall(): Promise<void> {
    if (this.#hasRecalled) return;
    const seenMs = await this.#options.seenClock.last();
    if (seenMs !== null) this.#clock.recall(seenMs);
    this.#hasRecalled = true;
  }
}

/** Removes replaced files of a local store. A failure does not stop the sweep of the other stores. */
async function removeSuperseded(
  { settings }: LifeContext,
  store: BlobStore,
  mayGoOn: () => boolean,
): Promise<void> {
  if (!isLocalStore(store)) return;
  try {
    await store.removeSuperseded(settings.now() - SUPERSEDED_MS, mayGoOn);
  } catch (error) {
    settings.onError(error);
  }
}
