import type { StorageRoles } from "../../contracts/blob-store.ts";
import { isLocalStore } from "../../contracts/blob-store.ts";
import { createWebhooks } from "../../http/webhooks.ts";
import { createDueList, type DueList } from "../../stores/due-list.ts";
import { NameIndex } from "../../stores/name-index.ts";
import { hookDestinations, webhookDestination } from "../events/destinations.ts";
import { ImageEvents } from "../events/image-events.ts";
import type { ImageSettings } from "../image-settings.ts";
import { countOwned, idsOwned, OWNED_INDEX } from "../owners/owned-images.ts";
import { OwnerUsage } from "../owners/owner-usage.ts";
import { CopyIndex } from "../record/copy-index.ts";
import { ImageRecords } from "../record/image-records.ts";
import { MARKED_INDEX } from "../record/marks.ts";
import { Reports } from "../reports/reports.ts";
import type { StoreGuard } from "../store/store-guard.ts";
import { Claims } from "../uploads/claims.ts";
import { SeenClock } from "./clock-guard.ts";
import { DenyList } from "./deny-list.ts";

/** Name of the due list of undelivered events. */
export const EVENTS = "events";

/** The bytes of the images, in all stores. */
interface ImageBytes {
  /** Removes all bytes of an image. Idempotent. */
  remove(id: string): Promise<void>;
}

/** The parts that change the life of an image. */
export interface LifeContext {
  settings: Pick<
    ImageSettings,
    | "now"
    | "tombstoneMs"
    | "maxLifetimeMs"
    | "onError"
    | "onStored"
    | "onRemoved"
    | "webhooks"
    | "logStored"
    | "onPurge"
    | "log"
  >;
  guard: StoreGuard;
  records: ImageRecords;
  /** Whether the records are files on this machine. */
  isLocal: boolean;
  /**
   * Times of the next sweep of each image. Every image has an entry no later than its next due change. A change that
   * brings that time forward adds an entry first.
   */
  due: DueList;
  /** Index of each owner's images. */
  owned: NameIndex;
  copies: CopyIndex;
  denied: DenyList;
  owners: OwnerUsage;
  events: ImageEvents;
  /** Images that wait for an operator, or are withheld; see `marksOf`. */
  marked: NameIndex;
  reports: Reports;
  /** Deletions of all images of an owner, by the hash of the name; see `removeOwned`. */
  removals: DueList;
  bytes: ImageBytes;
}

/**
 * Creates the parts that manage the life of images, over the store of the records.
 * @param holdsOriginals Whether that is also the store of the originals. An observer makes two objects of one store.
 */
export function createLife(
  { records: store, originals }: StorageRoles,
  settings: LifeContext["settings"],
  guard: StoreGuard,
  bytes: ImageBytes,
  holdsOriginals = originals === store,
): { life: LifeContext; claims: Claims; seenClock: SeenClock } {
  const { now, onError, log } = settings;
  const owned = new NameIndex(store, OWNED_INDEX);
  const marked = new NameIndex(store, MARKED_INDEX);
  const copies = new CopyIndex(store);
  const events = new ImageEvents({
    due: createDueList(store, EVENTS),
    dead: createDueList(store, "deadevents"),
    records: () => records,
    hasWebhooks: settings.webhooks !== undefined,
    ...{ now, onError, log },
  });
  const destinations = [
    ...hookDestinations(settings),
    ...createWebhooks(settings.webhooks).map((webhook) => webhookDestination(webhook, now)),
  ];
  for (const destination of destinations) events.addDestination(destination);
  const records: ImageRecords = new ImageRecords({
    store,
    events,
    confirm: () => guard.confirm(),
    holdsOriginals,
    owned,
    marked,
    copies,
  });
  const owners = new OwnerUsage({
    store,
    index: owned,
    now: settings.now,
    isOwned: async (owner, id) => (await records.loadUnconfirmed(id))?.record.owner?.name === owner,
    count: (owner, isMissing) =>
      countOwned(records, owner, isMissing ? idsOwned(owned, owner) : records.ids(), settings.now),
    onError: settings.onError,
  });
  const life: LifeContext = {
    settings,
    guard,
    records,
    isLocal: isLocalStore(store),
    due: createDueList(store, "images"),
    owned,
    copies,
    denied: new DenyList(store, now),
    owners,
    events,
    marked,
    reports: new Reports({
      store,
      records,
      now,
      log: settings.log,
      onError,
      announce: (id, { reference, reasons, dueAt }) =>
        events.addEvent(id, "image.reported", { reference, reasons, dueAt }),
    }),
    removals: createDueList(store, "removals"),
    bytes,
  };
  const claims = new Claims({ store, due: createDueList(store, "claims"), records, now, onError });
  return { life, claims, seenClock: new SeenClock(createDueList(store, "clock")) };
}
