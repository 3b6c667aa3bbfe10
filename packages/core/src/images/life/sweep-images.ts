import type { DueEntry } from "../../contracts/due-index.ts";
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

/** How many entries are read at a time, and how many images are swept at once. */
interface Pace {
  batch: number;
  atOnce: number;
}

/** A remote store has other requests to answer, and each image of a sweep is one more at a time. */
const REMOTE: Pace = { batch: 200, atOnce: 4 };
/** One flush of a local disk covers all that is written by then: many images at once share it. */
const LOCAL: Pace = { batch: 1000, atOnce: 32 };
/** What failed is tried again after this time, so that it does not stand in the way of what comes behind it. */
const POSTPONE_MS = 5 * 60_000;

/**
 * Does what is due about images by now, the oldest first.
 * @param mayGoOn is asked before every image; from `false` on no other is touched.
 * @param onProgress gets the numbers so far after every image.
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
 * An image that has several entries is looked after by one worker: another would act upon a record that the first has not
 * flushed yet, and may have to take back.
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

/** Takes one image after the other from a list that others take from as well. */
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
      const look = await attempt(context, entry);
      if (look !== "kept") report[look]++;
      tell();
    }
  }
}

async function attempt(context: LifeContext, entry: DueEntry): Promise<Look | "failed"> {
  const { onError } = context.settings;
  try {
    return await lookAfter(context, entry);
  } catch (error) {
    onError(error);
    // Where this fails too, the entry stays and is found again.
    await postpone(context, entry).catch(onError);
    return "failed";
  }
}

async function postpone({ due, settings }: LifeContext, entry: DueEntry): Promise<void> {
  await due.add({ id: entry.id, dueMs: settings.now() + POSTPONE_MS });
  await due.remove(entry);
}
