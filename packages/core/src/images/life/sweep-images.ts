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

const BATCH = 200;
const AT_ONCE = 4;
/** What failed is tried again after this time, so that it does not stand in the way of what comes behind it. */
const POSTPONE_MS = 5 * 60_000;

/**
 * Does what is due about images by now, the oldest first.
 * @param mayGoOn is asked before every image; from `false` on no other is touched.
 */
export async function sweepImages(context: LifeContext, mayGoOn: () => boolean): Promise<SweepReport> {
  const { due, settings } = context;
  const report: SweepReport = { looked: 0, emptied: 0, forgotten: 0, failed: 0 };
  while (mayGoOn()) {
    const entries = await due.due(settings.now(), BATCH);
    const images = byImage(entries);
    const failedBefore = report.failed;
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(context, images, report, mayGoOn)));
    const isStuck = report.failed - failedBefore === entries.length;
    if (entries.length < BATCH || isStuck) break;
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
): Promise<void> {
  for (let entries = images.shift(); entries !== undefined; entries = images.shift()) {
    for (const entry of entries) {
      if (!mayGoOn()) return;
      report.looked++;
      const look = await attempt(context, entry);
      if (look !== "kept") report[look]++;
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
