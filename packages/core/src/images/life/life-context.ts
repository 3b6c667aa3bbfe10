import type { DueList } from "../../stores/due-list.ts";
import type { ImageSettings } from "../image-settings.ts";
import type { OwnerUsage } from "../owners/owner-usage.ts";
import type { ImageRecords } from "../record/image-records.ts";
import type { StoreGuard } from "../store/store-guard.ts";

/** What it takes to change the life of an image. */
export interface LifeContext {
  settings: Pick<ImageSettings, "now" | "tombstoneMs" | "maxLifetimeMs" | "onError" | "onRemoved" | "log">;
  guard: StoreGuard;
  records: ImageRecords;
  /** Whether the records are files of this machine. */
  isLocal: boolean;
  /**
   * When to look at which image. For each there is an entry, at the latest when something is to be done about it: whoever
   * brings that forward adds one before.
   */
  due: DueList;
  owners: OwnerUsage;
  /** Removes all bytes of an image, wherever they are kept. May be done any number of times. */
  removeBytes(id: string): Promise<void>;
}
