import type { DueList } from "../../stores/due-list.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { OwnerUsage } from "../owners/owner-usage.ts";
import type { ImageRecords } from "../record/image-records.ts";
import type { StoreGuard } from "../store/store-guard.ts";

/** What changes of an image's life need. */
export interface LifeContext {
  settings: Pick<ImageSettings, "now" | "tombstoneMs" | "maxLifetimeMs" | "onError" | "onRemoved" | "log">;
  guard: StoreGuard;
  records: ImageRecords;
  /** Whether the records are files of this machine. */
  isLocal: boolean;
  /**
   * When each image needs a sweep. Every image has an entry no later than its next change is due. A change that brings that
   * time forward adds an entry first.
   */
  due: DueList;
  owners: OwnerUsage;
  /** Removes all bytes of an image, in all stores. Idempotent. */
  removeBytes(id: string): Promise<void>;
}
