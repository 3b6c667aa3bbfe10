import type { StoreRole } from "../../contracts/observer.ts";
import type { Secret } from "../record/pin.ts";
import type { ImageStorage } from "../record/storage-roles.ts";

/** Progress of a migration. Every call gets the same object, updated. */
export interface MigrationProgress {
  /** The current step. */
  phase: "counting" | StoreRole | "comparing";
  /** Keys processed: each was copied, or was in the target already. */
  keys: number;
  /** Keys of the source to process. Estimated until they are listed: the estimate becomes exact towards the end. */
  totalKeys: number;
  /** Bytes written to the target, including unfinished writes. */
  bytes: number;
}

/** A key with a problem. */
export interface MigrationTrouble {
  key: string;
  /** A clause without a full stop. */
  reason: string;
}

/** The result of a migration. */
export interface MigrationReport {
  /** Records of images at the source. */
  images: number;
  /** Keys written to the target. */
  copied: number;
  /** Bytes written to the target. */
  bytes: number;
  /** Keys that were in the target already. */
  unchanged: number;
  /** Keys removed from the target, since the source no longer has them. */
  removed: number;
  /** Keys on each side at the end; without renditions if they were left out. */
  keys: { from: number; to: number };
  /** Keys that the source has lost or cannot read. Everything else is copied. */
  damaged: MigrationTrouble[];
  /** Keys that did not arrive intact, or not at all: the target is incomplete. */
  failed: MigrationTrouble[];
  /** Whether the target has everything that the source can read, and may be used. */
  isComplete: boolean;
}

export interface MigrateOptions {
  /** May be in use; another run copies changes made during this one. */
  from: ImageStorage;
  /** Empty, or left by an earlier run from the same source. Not in use. It must not share a store with `from`. */
  to: ImageStorage;
  /** Name of the source for the mark in the target, without secrets. Only a run with the same name can continue. */
  source: string;
  /**
   * Secrets of the source. One of them must be a secret of its identity; a source without an identity gets one with them in the target.
   * @default a secret kept in the source's directory
   */
  secret?: Secret | undefined;
  /** Compares existing blobs by their bytes instead of their sizes. @default false */
  verify?: boolean | undefined;
  /** Copies renditions; missing ones are rendered again on request. @default true */
  withRenditions?: boolean | undefined;
  /** Keys copied at once, and ranges of keys listed at once, 1 to 256. @default 8 */
  concurrency?: number | undefined;
  /** Time to retry a failing store; milliseconds from 0. @default 60000 */
  patienceMs?: number | undefined;
  /** Aborting stops after the keys in progress; the promise rejects with the signal's reason. @default never */
  signal?: AbortSignal | undefined;
  /** Receives the progress. @default none */
  onProgress?: ((progress: Readonly<MigrationProgress>) => void) | undefined;
  /** Called when everything is copied, before the target is marked as finished, for example to store the secret. @default nothing */
  beforeFinish?: (() => Promise<void>) | undefined;
}
