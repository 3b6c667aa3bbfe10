import type { DueList } from "../../stores/due-list.ts";
import type { NameIndex } from "../../stores/name-index.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { OwnerUsage } from "../owners/owner-usage.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { ImageRecords } from "../record/image-records.ts";
import type { StoreGuard } from "../store/store-guard.ts";

/** The parts that change the life of an image. */
export interface LifeContext {
  settings: Pick<
    ImageSettings,
    "now" | "tombstoneMs" | "readLeaseMs" | "maxLifetimeMs" | "onError" | "onRemoved" | "onPurge" | "log"
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
  /** Adds an image to the index of its owner's images. */
  addOwned(record: ImageRecord): Promise<void>;
  owners: OwnerUsage;
  /** Removes all bytes of an image from all stores. Idempotent. */
  removeBytes(id: string): Promise<void>;
}
