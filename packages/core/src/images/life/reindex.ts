import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { isServiceError } from "../../errors.ts";
import { removeStaleEntries } from "../owners/owned-images.ts";
import { ORPHAN_MS } from "../processing/lease.ts";
import { hashesOf, type ImageRecord } from "../record/image-record.ts";
import { possibleMarksOf } from "../record/marks.ts";
import type { LifeContext } from "./create-life.ts";

const READ_AT_ONCE = 8;

/** The result of `reindex`, in numbers of images. */
export interface ReindexReport {
  /** Images with a new due entry, damaged ones included. */
  images: number;
  /** Images whose records are unreadable. */
  damaged: number;
}

/** Adds every image to the schedule of the sweep and to the indexes, and removes stale entries of these. */
export async function addIndexEntries(life: LifeContext): Promise<ReindexReport> {
  const { records, due, owned, marked, copies, settings } = life;
  const report: ReindexReport = { images: 0, damaged: 0 };
  await forEachAtOnce(records.ids(), READ_AT_ONCE, async (id) => {
    await due.add({ id, dueMs: settings.now() });
    report.images++;
    try {
      const current = await records.load(id);
      if (current === null) return;
      await life.records.addEntries(current.record);
    } catch (error) {
      if (isServiceError(error, "damaged")) report.damaged++;
      settings.onError(error);
    }
  });
  await life.reports.reschedule();
  const before = settings.now() - ORPHAN_MS;
  const ownerOf = ({ owner }: ImageRecord) => (owner === null ? [] : [owner.name]);
  await removeStaleEntries(owned, records, ownerOf, before, settings.onError);
  await removeStaleEntries(copies.entries, records, hashesOf, before, settings.onError);
  await removeStaleEntries(marked, records, possibleMarksOf, before, settings.onError);
  return report;
}
