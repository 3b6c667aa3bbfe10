import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { checkOptions } from "../../check-options.ts";
import { isServiceError } from "../../errors.ts";
import type { RuleTable } from "../../option-rules.ts";
import { defaultSettings, IMAGES_RULES, imageSettings } from "../image-settings.ts";
import type { ImagesOptions } from "../images-options.ts";
import type { Usage } from "../owners/owner-usage.ts";
import { requireNotOver, unknownImage } from "../record/image-life.ts";
import { closeStores, type ImageStorage, rolesOf } from "../record/storage-roles.ts";
import { removeStored } from "../renditions/remove-stored.ts";
import { createAdminGuard } from "../store/store-guard.ts";
import { type CountOptions, countImages, type ImageStats } from "./count-images.ts";
import { createLife } from "./create-life.ts";
import { loadAny } from "./damaged-image.ts";
import { type ImageEnd, type ListedImage, listEnds, listImages, type OnUnreadable } from "./image-listing.ts";
import type { LifeContext } from "./life-context.ts";
import { markDeleted } from "./mark-deleted.ts";
import { sweepEntry } from "./sweep-entry.ts";
import type { SweepReport } from "./sweep-images.ts";
import { createSweeper, type Sweeper, type SweepOptions } from "./sweeper.ts";
import { releaseImage, type WithholdOptions, withholdImage } from "./withhold.ts";

/** What the operator of an image service may do with its images, whatever their PINs. */
export interface ImageAdmin {
  /**
   * Withholds an image: from when this resolves, every read that begins is refused with 451, on every process. It can be
   * done again, with other words. An image whose record is damaged can be withheld as well. Rejects with `not_found` for an image that is not known or is gone, and with a TypeError
   * for options out of range.
   */
  withhold(id: string, options: WithholdOptions): Promise<void>;
  /**
   * Undoes `withhold`. An image that is not withheld stays as it is. Rejects with `not_found`, and with `damaged` for an
   * image whose record cannot be read.
   */
  release(id: string): Promise<void>;
  /**
   * Deletes an image, also when it is withheld or its record is damaged. Of an image that has ended already, rejects as its
   * life says: with `not_found`, `withheld` or `gone`. Rejects with `conflict` when it was changed at the same time.
   */
  remove(id: string): Promise<void>;
  /** All images that are known, in no particular order. Reads every record: for people and nightly jobs. */
  list(): AsyncGenerator<ListedImage>;
  /**
   * Every image that is gone or withheld, for a restore after which it must stay so; see `restoreStorage`. Reads every record.
   * @param onUnreadable is called for a record that cannot be read, and the others follow. @default the list rejects
   */
  ends(onUnreadable?: OnUnreadable): AsyncGenerator<ImageEnd>;
  /**
   * Images by state. A data directory with too many images to count in three seconds is estimated; any other storage reads
   * every record.
   */
  stats(options?: CountOptions): Promise<ImageStats>;
  /** What an owner has stored. */
  usage(owner: string): Promise<Usage>;
  /**
   * Notes for every image when something is to be done about it, so that the sweep finds it: for storage that was restored
   * from a backup, or filled by a version that kept no notes. Reads every record; `onError` gets each damaged one.
   */
  reindex(): Promise<ReindexReport>;
  /** Removes at once what is due by now. */
  sweep(options?: SweepOptions): Promise<SweepReport>;
}

/** What `reindex` found, in numbers of images. */
export interface ReindexReport {
  /** Noted, the damaged ones included. */
  images: number;
  /** Their records cannot be read. */
  damaged: number;
}

/** An administrator over storage that a service may be using at the same time, on this machine or another. */
export interface StorageAdmin extends ImageAdmin {
  /** Closes the stores. */
  close(): Promise<void>;
}

export type ImageAdminOptions = {
  /** Where the images are. Closed with the administrator. */
  storage: ImageStorage;
} & Pick<ImagesOptions, "tombstoneDays" | "logger" | "onError" | "onRemoved" | "now">;

const ADMIN_RULES = {
  storage: IMAGES_RULES.storage,
  tombstoneDays: IMAGES_RULES.tombstoneDays,
  logger: IMAGES_RULES.logger,
  onError: IMAGES_RULES.onError,
  onRemoved: IMAGES_RULES.onRemoved,
  now: IMAGES_RULES.now,
} satisfies RuleTable<ImageAdminOptions>;

/**
 * Administers images where they are stored, without serving them: for commands and nightly jobs.
 * @throws TypeError for an option out of range.
 * @example
 * const admin = createImageAdmin({ storage: createFsBlobStore({ directory: "./data" }) });
 * await admin.withhold(id, { reason: "Removed by court order", authority: "https://example.com/legal/2026-17" });
 * await admin.close();
 */
export function createImageAdmin(options: ImageAdminOptions): StorageAdmin {
  const { storage, ...given } = checkOptions("createImageAdmin", options, ADMIN_RULES);
  const roles = rolesOf(storage);
  const settings = imageSettings({ ...defaultSettings("createImageAdmin"), ...given });
  const guard = createAdminGuard(roles.records, settings.log);
  const { life, claims, seenClock } = createLife(roles, settings, guard, (id) => removeStored(roles, id));
  const sweeper = createSweeper({
    context: life,
    everyMs: null,
    stores: Object.values(roles),
    alsoSweep: () => claims.sweep(),
    seenClock,
  });
  return {
    ...adminOf(life, sweeper),
    async close() {
      await sweeper.close();
      await closeStores(roles);
    },
  };
}

/** The administration of images over what is kept of them. */
export function adminOf(life: LifeContext, sweeper: Sweeper): ImageAdmin {
  const { guard } = life;
  return {
    async withhold(id, options) {
      await guard.open();
      await withholdImage(life, id, options);
    },
    async release(id) {
      await guard.open();
      await releaseImage(life, id);
    },
    async remove(id) {
      await guard.open();
      const current = await loadAny(life, id);
      if (current === null) throw unknownImage();
      requireNotOver(current.record, life.settings);
      const { entry } = await markDeleted(life, current);
      await sweepEntry(life, entry);
    },
    async *list() {
      await guard.open();
      yield* listImages(life);
    },
    async *ends(onUnreadable) {
      await guard.open();
      yield* listEnds(life, onUnreadable);
    },
    async stats(options) {
      await guard.open();
      return countImages(life, options);
    },
    async usage(owner) {
      await guard.open();
      return life.owners.usage(owner);
    },
    async reindex() {
      await guard.open();
      return noteAll(life);
    },
    sweep: (options) => sweeper.sweep(options),
  };
}

const READ_AT_ONCE = 8;

async function noteAll({ records, due, settings }: LifeContext): Promise<ReindexReport> {
  const report: ReindexReport = { images: 0, damaged: 0 };
  await forEachAtOnce(records.ids(), READ_AT_ONCE, async (id) => {
    await due.add({ id, dueMs: settings.now() });
    report.images++;
    await records.load(id).catch((error) => {
      if (isServiceError(error, "damaged")) report.damaged++;
      settings.onError(error);
    });
  });
  return report;
}
