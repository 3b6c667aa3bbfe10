import type { DueEntry } from "../../contracts/due-index.ts";
import type { LifeContext } from "./life-context.ts";
import { type SweepOutcome, sweepEntry } from "./sweep-entry.ts";

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
 * @param onProgress Called with the numbers so far after every image.
 */
export async function sweepImages(
  context: LifeContext,
  mayGoOn: () => boolean,
  onProgress: (report: Readonly<SweepReport>) => void = () => undefined,
): Promise<SweepReport> {
  const { due, settings } = context;
  const { batch, atOnce } = context.isLocal ? LOCAL : REMOTE;
  const report: SweepReport = { looked: 0, emptied: 0, forgotten: 0, failed: 0 };
  while (mayGoOn()) {
    const entries = await due.due(settings.now(), batch);
    const images = byImage(entries);
    const failedBefore = report.failed;
    const tell = () => onProgress(report);
    await Promise.all(Array.from({ length: atOnce }, () => work(context, images, report, mayGoOn, tell)));
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
  tell: () => void,
): Promise<void> {
  for (let entries = images.shift(); entries !== undefined; entries = images.shift()) {
    for (const entry of entries) {
      if (!mayGoOn()) return;
      report.looked++;
      const outcome = await attempt(context, entry);
      if (outcome !== "kept") report[outcome]++;
      tell();
    }
  }
}

async function attempt(context: LifeContext, entry: DueEntry): Promise<SweepOutcome | "failed"> {
  const { onError } = context.settings;
  try {
    return await sweepEntry(context, entry);
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
