import type { BlobStore } from "../../contracts/blob-store.ts";
import type { MigrateOptions, MigrationTrouble } from "../migrate/migrate-options.ts";
import type { Secret } from "../record/pin.ts";
import type { ImageStorage } from "../record/storage-roles.ts";
import type { BackupManifest } from "./backup-manifest.ts";
import type { EndList } from "./end-lists.ts";

export interface RestoreOptions
  extends Pick<MigrateOptions, "concurrency" | "patienceMs" | "signal" | "onProgress" | "beforeFinish"> {
  /** A backup made by `backupStorage`. */
  from: BlobStore;
  /** Empty, left by an earlier run of the same restore, or living: a service may be using it. */
  to: ImageStorage;
  /** `tombstoneDays` of the service: the days that it remembers gone images. @default 30 */
  tombstoneDays?: number | undefined;
  /** Secrets of the service. One of them must be a secret of the backup. @default not compared */
  secret?: Secret | undefined;
  /** Lists of images that ended after the backup; any number, in any order. @default none */
  ends?: readonly EndList[] | undefined;
  /**
   * Restores images missing from a living target, even if the backup is older than the target remembers deletions: deleted
   * images may come back. @default false
   */
  restoreAbsent?: boolean | undefined;
  /** Restores from a backup whose latest run did not finish. @default false */
  acceptIncomplete?: boolean | undefined;
}

/** The result of a restore. */
export interface RestoreReport {
  manifest: BackupManifest;
  /** Whether the target had images already. */
  wasLiving: boolean;
  /** Images restored with their bytes. */
  restored: number;
  bytes: number;
  /** Images that were in the target, and stayed unchanged. */
  kept: number;
  /** Images that are deleted, expired or removed in the target; no bytes were restored. */
  ended: number;
  /** Images missing from a living target that may have been deleted. They were left out, see `restoreAbsent`. */
  absent: number;
  /** Keys that the backup has lost or cannot read. */
  damaged: MigrationTrouble[];
  /** Keys that did not arrive intact, or not at all. */
  failed: MigrationTrouble[];
  /** Whether the target has everything that the backup can read and the options allow. */
  isComplete: boolean;
}
