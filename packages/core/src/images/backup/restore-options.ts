import type { BlobStore } from "../../contracts/blob-store.ts";
import type { MigrateOptions, MigrationTrouble } from "../migrate/migrate-options.ts";
import type { Secret } from "../record/pin.ts";
import type { ImageStorage } from "../record/storage-roles.ts";
import type { BackupManifest } from "./backup-manifest.ts";
import type { EndList } from "./end-lists.ts";

export interface RestoreOptions
  extends Pick<MigrateOptions, "concurrency" | "patienceMs" | "signal" | "onProgress" | "beforeFinish"> {
  /** A backup that `backupStorage` made. */
  from: BlobStore;
  /** Empty, as an earlier run of the same restore left it, or living: then a service may be using it. */
  to: ImageStorage;
  /** As the service has it: how long it remembers images that are gone. @default 30 */
  tombstoneDays?: number;
  /** Secrets that the service will have; one of them must be one of the backup's. @default not compared */
  secret?: Secret;
  /** Lists of images that have ended, of the time after the backup; any number, in any order. @default none */
  ends?: readonly EndList[];
  /**
   * Restores images that a living target does not know, although the backup is older than the target remembers: deleted ones
   * may come back. @default false
   */
  restoreAbsent?: boolean;
  /** Restores from a backup of which no run has ended. @default false */
  acceptIncomplete?: boolean;
}

/** What a restore did. */
export interface RestoreReport {
  manifest: BackupManifest;
  /** Whether images were there already. */
  wasLiving: boolean;
  /** Images that were brought back with their bytes. */
  restored: number;
  bytes: number;
  /** Images that were there, and stayed as they were. */
  kept: number;
  /** Images that are there as deleted, expired or removed: no bytes were brought back. */
  ended: number;
  /** Images that a living target does not know, and that may have been deleted: left out, see `restoreAbsent`. */
  absent: number;
  /** What the backup has lost or cannot read. */
  damaged: MigrationTrouble[];
  /** What did not arrive as it was sent, or not at all. */
  failed: MigrationTrouble[];
  /** Whether the target has all that the backup can give and the options allow. */
  isComplete: boolean;
}
