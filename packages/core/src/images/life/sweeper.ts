import { PolledValue } from "../../async/polled-value.ts";
import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import type { Observer } from "../../contracts/observer.ts";
import { ClockGuard, type SeenClock } from "./clock-guard.ts";
import type { LifeContext } from "./create-life.ts";
import { type SweepOutcome, sweepImage } from "./end-image.ts";

/** The result of a sweep, in numbers of images. */
export interface SweepReport {
  /** Images with due entries. */
  looked: number;
  /** Images whose bytes were removed; their records remain. */
  emptied: number;
  /** Images whose records were removed as well. */
  forgotten: number;
  /** Images that could not be swept, e.g. because a store failed. `onError` received the error. */
  failed: number;
}

/** Number of entries per batch, and of images swept concurrently. */
interface Pace {
  batch: number;
  atOnce: number;
}

/** A remote store serves other requests too, and each image of a sweep adds one. */
const REMOTE: Pace = { batch: 200, atOnce: 4 };
/** One flush of a local disk covers all writes before it, so concurrent images share it. */
const LOCAL: Pace = { batch: 1000, atOnce: 32 };
/** Delay before a failed image is retried, so that it does not block the images behind it. */
const POSTPONE_MS = 5 * 60_000;

/**
 * Sweeps all images with due entries, oldest first.
 * @param mayGoOn Called before every image. After `false`, no further image is changed.
 */
async function sweepImages(context: LifeContext, mayGoOn: () => boolean): Promise<SweepReport> {
  const { due, settings } = context;
  const { batch, atOnce } = context.isLocal ? LOCAL : REMOTE;
  const report: SweepReport = { looked: 0, emptied: 0, forgotten: 0, failed: 0 };
  while (mayGoOn()) {
    const entries = await due.due(settings.now(), batch);
    const images = byImage(entries);
    const failedBefore = report.failed;
    await Promise.all(Array.from({ length: atOnce }, () => work(context, images, report, mayGoOn)));
    const isStuck = report.failed - failedBefore === entries.length;
    if (entries.length < batch || isStuck) break;
  }
  return report;
}

/**
 * Groups entries by image, so that one worker sweeps all entries of an image. A second worker could act on a record
 * that the first has not flushed yet, and that may be rolled back.
 */
function byImage(entries: readonly DueEntry[]): DueEntry[][] {
  const images = new Map<string, DueEntry[]>();
  for (const entry of entries) {
    const others = images.get(entry.id);
    if (others === undefined) images.set(entry.id, [entry]);
    else others.push(entry);
  }
  return [...images.values()];
}

/** Sweeps images one after another from a list that all workers share. */
async function work(
  context: LifeContext,
  images: DueEntry[][],
  report: SweepReport,
  mayGoOn: () => boolean,
): Promise<void> {
  for (let entries = images.shift(); entries !== undefined; entries = images.shift()) {
    for (const entry of entries) {
      if (!mayGoOn()) return;
      report.looked++;
      const outcome = await sweepOrPostpone(context, entry);
      if (outcome !== "kept") report[outcome]++;
    }
  }
}

async function sweepOrPostpone(context: LifeContext, entry: DueEntry): Promise<SweepOutcome | "failed"> {
  const { onError } = context.settings;
  try {
    return await sweepImage(context, entry);
  } catch (error) {
    onError(error);
    // If this fails too, the entry remains, and the next sweep retries it.
    await postpone(context, entry).catch(onError);
    return "failed";
  }
}

async function postpone({ due, settings }: LifeContext, entry: DueEntry): Promise<void> {
  await due.add({ id: entry.id, dueMs: settings.now() + POSTPONE_MS });
  await due.remove(entry);
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

/** Sweeps regularly and on demand. */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #clock = new ClockGuard();
  #hasRecalled = false;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<SweepReport> | null = null;
  /** The current run of the timer, including the work before and after its sweep. */
  #byTimer: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Time of the oldest due entry at the last look. */
  readonly #oldestMs: PolledValue<number | null>;

  constructor(options: SweeperOptions) {
    this.#options = options;
    const { due, settings } = options.context;
    this.#oldestMs = new PolledValue(null, async () => (await due.due(settings.now(), 1))[0]?.dueMs ?? null);
  }

  /** Starts a sweep every `everyMs`, while the clock is trusted. `null`: does nothing. */
  start(): void {
    const { everyMs } = this.#options;
    if (everyMs !== null) this.#schedule(everyMs, Math.random() * Math.min(MAX_START_MS, everyMs));
  }

  /** Sweeps now everything that is due by the clock, trusted or not. */
  async sweep(): Promise<SweepReport> {
    // An earlier sweep may have missed entries. Its failure goes to its own caller.
    await this.#underWay?.catch(() => undefined);
    return this.#sweepOnce(() => true);
  }

  /** Age of the oldest due entry in seconds; 0 without one. See {@link PolledValue}. */
  get oldestSeconds(): number {
    const oldestMs = this.#oldestMs.read();
    return oldestMs === null ? 0 : Math.max(0, this.#options.context.settings.now() - oldestMs) / 1000;
  }

  /** Resolves when no sweep is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#byTimer;
    await this.#underWay?.catch(() => undefined); // Its caller receives the failure.
  }

  #sweepOnce(isTrusted: () => boolean): Promise<SweepReport> {
    const { observer = null } = this.#options;
    const run = () => this.#sweepAll(isTrusted);
    this.#underWay ??= (observer === null ? run() : observer.observe({ kind: "sweep" }, run)).finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  async #sweepAll(isTrusted: () => boolean): Promise<SweepReport> {
    const { context, stores, alsoSweep } = this.#options;
    // Before the first removal: an empty store must stay unchanged.
    await context.guard.confirmAll();
    const mayGoOn = () => !this.#isClosed && isTrusted();
    const report = await sweepImages(context, mayGoOn);
    if (mayGoOn()) await alsoSweep(mayGoOn);
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
        await this.#sweepOnce(() => this.#clock.isTrusted());
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
