import type { StoreRole } from "../../contracts/observer.ts";
import type { ImageStorage } from "../record/storage-roles.ts";

/** How far a migration is. The same object, changed, is given again and again. */
export interface MigrationProgress {
  /** What is under way. */
  phase: "counting" | StoreRole | "comparing";
  /** Keys that were looked at; each is copied, or found to be there already. */
  keys: number;
  /** Keys of the source that are to be looked at, as counted so far. */
  totalKeys: number;
  /** Bytes that were written to the target, those under way included. */
  bytes: number;
}

/** Something that is not as it should be. */
export interface MigrationTrouble {
  key: string;
  /** A clause without a full stop. */
  reason: string;
}

/** What a migration did. */
export interface MigrationReport {
  /** Records of images at the source. */
  images: number;
  /** Keys that were written to the target. */
  copied: number;
  /** Bytes that were written to it. */
  bytes: number;
  /** Keys that the target had already. */
  unchanged: number;
  /** Keys that were removed from the target since the source has them no more. */
  removed: number;
  /** Keys on both sides at the end, without renditions where those were left out. */
  keys: { from: number; to: number };
  /** What the source has lost or cannot read. All else is copied. */
  damaged: MigrationTrouble[];
  /** What did not arrive as it was sent, or not at all: the target is not whole. */
  failed: MigrationTrouble[];
  /** Whether the target has all that the source can give, and may be served. */
  isComplete: boolean;
}

export interface MigrateOptions {
  /** May be in use; another run copies the changes that are made meanwhile. */
  from: ImageStorage;
  /** Empty, or as an earlier run from the same source left it. Not in use. No store of it may be one of `from`. */
  to: ImageStorage;
  /** Names the source in the mark at the target, without secrets: only a run with the same name goes on there. */
  source: string;
  /** Compares the bytes that both sides have, instead of their sizes. @default false */
  verify?: boolean;
  /** Copies renditions; missing ones are rendered again on request. @default true */
  withRenditions?: boolean;
  /** Keys that are copied at a time, 1 to 256. @default 8 */
  concurrency?: number;
  /** How long to retry a store that fails; milliseconds from 0. @default 60000 */
  patienceMs?: number;
  /** Aborting ends it after the keys that are under way; the promise rejects with the signal's reason. @default never */
  signal?: AbortSignal;
  /** Gets the progress of the migration. @default none */
  onProgress?(progress: Readonly<MigrationProgress>): void;
  /** Called when everything is copied, before the target is marked as finished; e.g. to store the secret there. @default nothing */
  beforeFinish?(): Promise<void>;
}
