import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { checkOptions } from "../../check-options.ts";
import type { Backlog } from "../../http/deliveries.ts";
import { type Options, pick } from "../../option-rules.ts";
import { defaultSettings, imageSettings } from "../image-settings.ts";
import { IMAGES_RULES } from "../images-options.ts";
import type { Usage } from "../owners/owner-usage.ts";
import { closeStores, rolesOf } from "../record/storage-roles.ts";
import { removeStored } from "../renditions/remove-stored.ts";
import { createAdminGuard } from "../store/store-guard.ts";
import { ACT_RULES, type ActOptions } from "./act-rules.ts";
import { type CountOptions, countImages, type ImageStats } from "./count-images.ts";
import { createLife, type LifeContext } from "./create-life.ts";
import { loadNotOver } from "./damaged-image.ts";
import type { AllowOptions, Denial, DenyOptions } from "./deny-list.ts";
import { markDeleted, sweepImage } from "./end-image.ts";
import {
  FILTER_RULES,
  type ImageEnd,
  type ImageFilter,
  type ListedImage,
  listEnds,
  listImages,
  type OnUnreadable,
} from "./image-listing.ts";
import { NEWEST_RULES, Newest, type NewestFilter, type NewestImages } from "./newest-images.ts";
import {
  type OwnerRemoval,
  REMOVE_ALL_RULES,
  type RemoveAllOptions,
  removeOwned,
  sweepRemovals,
} from "./remove-owned.ts";
import { type ReportAdmin, reportAdminOf } from "./report-admin.ts";
import { acceptImage, refuseImage } from "./review.ts";
import { logBytes, newAct } from "./settle-act.ts";
import { Sweeper, type SweepOptions, type SweepReport } from "./sweeper.ts";
import type { WithholdOptions } from "./withhold.ts";
import {
  CHANGED_AT_ONCE,
  type Release,
  type ReleaseOptions,
  releaseCopies,
  type SameBytes,
  sameBytesOf,
  withholdCopies,
} from "./withhold-copies.ts";

/** What an operator may do with images, independent of their PINs. */
export interface ImageAdmin {
  /**
   * Withholds an image: once this resolves, every read that starts gets 451, on every process. A repeated call
   * replaces reason, authority and date. An image whose record is damaged can be withheld too. Rejects with
   * `not_found` if the image is unknown or gone, and with a TypeError for options out of range.
   */
  withhold(id: string, options: WithholdOptions): Promise<void>;
  /**
   * Undoes `withhold`; with `copies`, all that it did. Does nothing for an image that is not withheld. Rejects with `not_found`, and
   * with `damaged` for an unreadable record.
   */
  release(id: string, options?: ReleaseOptions): Promise<Release>;
  /**
   * Serves a held image. Its life starts now: `expiresAt` is as far away as it was at the upload. Rejects with `not_found`, and with
   * `conflict` if the image is not held, as after the decision of another operator.
   */
  accept(id: string, options?: ActOptions): Promise<void>;
  /**
   * Refuses a held image: its addresses answer 404 with the reason, 1 to 1000 characters, and its bytes are removed. Rejects like
   * {@link ImageAdmin.accept}.
   */
  refuse(id: string, reason: string, options?: ActOptions): Promise<void>;
  /**
   * Deletes an image, even if it is withheld or its record is damaged. Rejects with `not_found`, `withheld` or `gone`
   * if the image has ended already, and with `conflict` after a concurrent change.
   */
  remove(id: string, options?: ActOptions): Promise<void>;
  /**
   * Deletes all images that an owner has, except withheld ones, at a cost of these images alone. If this process dies, any other one
   * continues with its sweep; so it does after a rejection. Uploads under way are deleted by the sweeps of the next 15 minutes.
   */
  removeAll(options: RemoveAllOptions): Promise<OwnerRemoval>;
  /**
   * Refuses uploads of these bytes from now on, on every process: with 403, or 451 for a legal reason. Images that are stored stay:
   * see `copies` of {@link ImageAdmin.withhold}. Replaces an earlier reason. Rejects with a TypeError for options out of range.
   */
  deny(options: DenyOptions): Promise<void>;
  /** Undoes `deny`. Does nothing for bytes that are not denied. */
  allow(options: AllowOptions): Promise<void>;
  /** Whether the bytes of an image are denied, and how many copies it has. For an unknown or ended image, neither. */
  sameBytes(id: string): Promise<SameBytes>;
  /** Lists all denied bytes, in no particular order. */
  denials(): AsyncGenerator<Denial>;
  /**
   * Changes many images: calls `change` for each, 32 at a time. Resolves when all calls have resolved; after a rejection no further
   * call begins, and it rejects with that error.
   * @example
   * await admin.changeMany(ids, (id, { withhold }) => withhold(id, { reason: "Removed by court order" }));
   */
  changeMany(ids: Iterable<string>, change: ImageChangeOfMany): Promise<void>;
  /**
   * Lists the known images that match, in no particular order. PostgreSQL finds them, and an index those of an `owner`.
   * Otherwise any other storage reads every record: for operators and nightly jobs. A record or directory that cannot be read does not
   * end the list: it goes on with all others, and rejects at its end. `onError` gets the error of each unreadable record.
   * @param filter @default all images
   */
  list(filter?: ImageFilter): AsyncGenerator<ListedImage>;
  /**
   * A page of living images, newest first. Those of a state or an owner come from an index. All others need a reading of all records
   * in the background, which later calls share: a call waits up to 2 s for it, then returns what was found. At most 10,000 of them.
   */
  newest(filter?: NewestFilter): Promise<NewestImages>;
  /**
   * Lists every image that is gone or withheld, so that a restore can keep it so; see `restoreStorage`. Reads every
   * record.
   * @param onUnreadable Called for an unreadable record; the list goes on. @default the list rejects
   */
  ends(onUnreadable?: OnUnreadable): AsyncGenerator<ImageEnd>;
  /**
   * Counts images by state, with `owner` only those of one. Without, PostgreSQL counts them itself. Any other storage reads every
   * record: some minutes for a million images.
   */
  stats(options?: CountOptions): Promise<ImageStats>;
  /** Counts the events that wait for their delivery, and those that were given up. */
  undelivered(): Promise<UndeliveredEvents>;
  /** The images and bytes that an owner has stored. */
  usage(owner: string): Promise<Usage>;
  /** The reports of clients. `withhold` and `remove` decide that of their image. */
  readonly reports: ReportAdmin;
  /** Sweeps now everything that is due. */
  sweep(options?: SweepOptions): Promise<SweepReport>;
}

/** Events that did not arrive. */
export interface UndeliveredEvents extends Backlog {
  /** Images with events that were given up in the last 30 days, at most 1000. */
  dead: number;
}

/** A change of one image of many, by the given methods. */
export type ImageChangeOfMany = (id: string, methods: Pick<ImageAdmin, ChangesOfOne>) => Promise<unknown>;

type ChangesOfOne = "withhold" | "release" | "accept" | "refuse" | "remove";

/** An administrator of a storage. Services may use the storage at the same time, on this machine or another. */
export interface StorageAdmin extends ImageAdmin {
  /** Closes the stores. */
  close(): Promise<void>;
}

const ADMIN_RULES = {
  /** Storage of the images. Closed with the administrator. */
  storage: IMAGES_RULES.storage,
  ...pick(IMAGES_RULES, [
    "tombstoneDays",
    "logger",
    "onError",
    "onStored",
    "onRemoved",
    "webhooks",
    "onPurge",
    "now",
  ]),
};

export interface ImageAdminOptions extends Options<typeof ADMIN_RULES> {}

/**
 * Administers images in their storage without serving them: for commands and nightly jobs.
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
  const guard = createAdminGuard(roles, settings.log, { acceptForeignRenditions: true });
  const { life, claims, seenClock } = createLife(roles, settings, guard, {
    remove: (id) => removeStored(roles, id),
  });
  const sweeper = new Sweeper({
    context: life,
    everyMs: null,
    stores: Object.values(roles),
    async alsoSweep(mayGoOn) {
      await claims.sweep();
      await life.events.sweep();
      await life.reports.sweep(mayGoOn);
      await sweepRemovals(life, mayGoOn);
    },
    seenClock,
  });
  return {
    ...adminOf(life, sweeper),
    async close() {
      await sweeper.close();
      await life.events.close();
      await closeStores(roles);
    },
  };
}

/** Image administration over the given parts. */
export function adminOf(life: LifeContext, sweeper: Sweeper): ImageAdmin {
  const { guard } = life;
  const newest = new Newest(life);
  const changes = changesIn(life);
  return {
    ...changes,
    changeMany: (ids, change) =>
      forEachAtOnce(ids, CHANGED_AT_ONCE, async (id) => void (await change(id, changes))),
    async *list(filter) {
      const checked = checkOptions("list", filter, FILTER_RULES);
      await guard.open();
      yield* listImages(life, checked);
    },
    newest: onceOpen(guard, async (filter) => newest.page(checkOptions("newest", filter, NEWEST_RULES))),
    async *ends(onUnreadable) {
      await guard.open();
      yield* listEnds(life, onUnreadable);
    },
    removeAll: onceOpen(guard, async (options) => {
      const { owner } = checkOptions("removeAll", options, REMOVE_ALL_RULES);
      const { removed, withheld } = await removeOwned(life, owner);
      return { removed, withheld };
    }),
    deny: onceOpen(guard, async (options) => {
      await life.denied.deny(options);
      logBytes(life, "denied", options);
    }),
    allow: onceOpen(guard, async (options) => {
      await life.denied.allow(options);
      logBytes(life, "allowed", options);
    }),
    sameBytes: onceOpen(guard, (id) => sameBytesOf(life, id)),
    async *denials() {
      await guard.open();
      yield* life.denied.list();
    },
    stats: onceOpen(guard, (options) => countImages(life, options)),
    undelivered: onceOpen(guard, () => life.events.count()),
    usage: onceOpen(guard, (owner) => life.owners.usage(owner)),
    reports: reportAdminOf(life),
    sweep: (options) => sweeper.sweep(options),
  };
}

function changesIn(life: LifeContext): Pick<ImageAdmin, ChangesOfOne> {
  const { guard } = life;
  return {
    withhold: onceOpen(guard, (id, options) => withholdCopies(life, id, options)),
    release: onceOpen(guard, (id, options) => releaseCopies(life, id, options)),
    accept: onceOpen(guard, (id, options) => acceptImage(life, id, options)),
    refuse: onceOpen(guard, (id, reason, options) => refuseImage(life, id, reason, options)),
    remove: onceOpen(guard, async (id, options) => {
      const act = newAct("remove", checkOptions("remove", options, ACT_RULES).by);
      await guard.confirmBytes();
      const { entry, current } = await markDeleted(life, await loadNotOver(life, id), { act });
      await sweepImage(life, entry, current);
    }),
  };
}

/** A method that works once the storage is open. */
function onceOpen<A extends unknown[], R>(guard: LifeContext["guard"], work: (...given: A) => Promise<R>) {
  return async (...given: A): Promise<R> => {
    await guard.open();
    return work(...given);
  };
}
