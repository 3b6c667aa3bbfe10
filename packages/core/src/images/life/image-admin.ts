import { ServiceError } from "../../errors.ts";
import { imageSettings } from "../image-settings.ts";
import type { ImagesOptions } from "../images-options.ts";
import type { Usage } from "../owners/owner-usage.ts";
import { removeStored } from "../remove-stored.ts";
import { closeStores, type ImageStorage, rolesOf } from "../storage-roles.ts";
import { createLife } from "./create-life.ts";
import { type ImageEnd, listEnds, type OnUnreadable } from "./image-ends.ts";
import { isOver } from "./image-life.ts";
import { countImages, type ImageStats, type ListedImage, listImages } from "./image-listing.ts";
import type { LifeContext } from "./life-context.ts";
import { lookAfter } from "./look-after.ts";
import type { SweepReport } from "./sweep-images.ts";
import { createSweeper, type Sweeper } from "./sweeper.ts";
import { takeDown } from "./take-down.ts";
import { releaseImage, type WithholdOptions, withholdImage } from "./withhold.ts";

/** What the operator of an image service may do with its images, whatever their PINs. */
export interface ImageAdmin {
  /**
   * Withholds an image: from when this resolves, every read that begins is refused with 451, on every process. It can be
   * done again, with other words. Rejects with `not_found` for an image that is not known or is gone, and with a TypeError
   * for options out of range.
   */
  withhold(id: string, options: WithholdOptions): Promise<void>;
  /** Undoes `withhold`. An image that is not withheld stays as it is. Rejects with `not_found`. */
  release(id: string): Promise<void>;
  /** Deletes an image, as its PIN would. Rejects with `not_found`, and `conflict` when it was changed at the same time. */
  remove(id: string): Promise<void>;
  /** All images that are known, in no particular order. Reads every record: for people and nightly jobs. */
  list(): AsyncGenerator<ListedImage>;
  /**
   * Every image that is gone or withheld, for a restore after which it must stay so; see `restoreStorage`. Reads every record.
   * @param onUnreadable is called for a record that cannot be read, and the others follow. @default the list rejects
   */
  ends(onUnreadable?: OnUnreadable): AsyncGenerator<ImageEnd>;
  /** Images by state. Reads every record. */
  stats(): Promise<ImageStats>;
  /** What an owner has stored. */
  usage(owner: string): Promise<Usage>;
  /**
   * Notes for every image when something is to be done about it, so that the sweep finds it: for storage that was restored
   * from a backup, or filled by a version that kept no notes. Reads every record.
   */
  reindex(): Promise<void>;
  /** Removes at once what is due by now. */
  sweep(): Promise<SweepReport>;
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

/**
 * Administers images where they are stored, without serving them: for commands and nightly jobs.
 * @throws TypeError for an option out of range.
 * @example
 * const admin = createImageAdmin({ storage: createFsBlobStore({ directory: "./data" }) });
 * await admin.withhold(id, { reason: "Removed by court order", authority: "https://example.com/legal/2026-17" });
 * await admin.close();
 */
export function createImageAdmin({ storage, ...options }: ImageAdminOptions): StorageAdmin {
  const roles = rolesOf(storage);
  const { life, claims, seenClock } = createLife(roles, imageSettings(options), (id) =>
    removeStored(roles, id),
  );
  const sweeper = createSweeper({ context: life, everyMs: null, alsoSweep: () => claims.sweep(), seenClock });
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
  return {
    withhold: (id, options) => withholdImage(life, id, options),
    release: (id) => releaseImage(life, id),
    async remove(id) {
      const current = await life.records.load(id);
      if (current === null || isOver(current.record, life.settings.now())) {
        throw new ServiceError("not_found", "There is no such image, or it is gone");
      }
      const { entry } = await takeDown(life, current);
      await lookAfter(life, entry);
    },
    list: () => listImages(life),
    ends: (onUnreadable) => listEnds(life, onUnreadable),
    stats: () => countImages(life),
    usage: (owner) => life.owners.usage(owner),
    async reindex() {
      for await (const id of life.records.ids()) await life.due.add({ id, dueMs: life.settings.now() });
    },
    sweep: () => sweeper.sweep(),
  };
}
