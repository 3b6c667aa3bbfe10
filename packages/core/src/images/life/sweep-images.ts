import type { DueEntry } from "../../contracts/due-index.ts";
import type { LifeContext } from "./life-context.ts";
import { type SweepOutcome, sweepEntry } from "./sweep-entry.ts";

/** What a sweep did, in numbers of images. */
export interface SweepReport {
  /** Read because something was due. */
  looked: number;
  /** Their bytes were removed; the record remains. */
  emptied: number;
  /** Their records were removed as well. */
  forgotten: number;
  /** Could not be swept, e.g. because a store failed; `onError` got the error. */
  failed: number;
}

/** How many entries are read at a time, and how many images are swept at once. */
interface Pace {
  batch: number;
  atOnce: number;
}

/** A remote store has other requests to answer, and each image of a sweep adds one. */
const REMOTE: Pace = { batch: 200, atOnce: 4 };
/** One flush of a local disk covers all that is written by then, so many images share it. */
const LOCAL: Pace = { batch: 1000, atOnce: 32 };
/** An image that failed is retried after this time, so that it does not block those behind it. */
const POSTPONE_MS = 5 * 60_000;

/**
 * Does what is due for images by now, the oldest first.
 * @param mayGoOn Called before every image; after `false` no further image is touched.
 * @param onProgress Gets the numbers so far after every image.
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
 * One worker sweeps all entries of an image: another would act on a record that the first has not flushed yet, and may have
 * to undo.
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

/** Sweeps one image after the other from a list that all workers share. */
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
    // If this fails too, the entry remains and the next sweep retries it.
    await postpone(context, entry).catch(onError);
    return "failed";
  }
}

async function postpone({ due, settings }: LifeContext, entry: DueEntry): Promise<void> {
  await due.add({ id: entry.id, dueMs: settings.now() + POSTPONE_MS });
  await due.remove(entry);
}
