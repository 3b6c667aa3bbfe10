import type { StoreRole } from "@outrigger/core";
import { IMAGES_RULES } from "@outrigger/core/images";
import { rules, shapes } from "@outrigger/core/stores";

/** Progress of a run. Every call gets the same object, updated. */
export interface StorageProgress {
  /** The current step. */
  phase: "counting" | StoreRole | "comparing";
  /** Keys processed. */
  keys: number;
  /** Keys to process, counted at the start. */
  totalKeys: number;
  /** Bytes written to the target, including unfinished writes. Of a verification: bytes read. */
  bytes: number;
}

/** A key with a problem. */
export interface StorageTrouble {
  key: string;
  /** A clause without a full stop. */
  reason: string;
}

export const RUN_RULES = {
  /** Keys processed at once, 1 to 256. @default 8 */
  concurrency: rules.preset(8, rules.whole(1, 256)),
  /** Time to retry a failing store; milliseconds from 0. @default 60000 */
  patienceMs: rules.preset(60_000, rules.time(0)),
  /** Aborting stops after the keys in progress; the promise rejects with the signal's reason. @default never */
  signal: shapes.abortSignal,
  /** Receives the progress. @default none */
  onProgress: rules.fn<(progress: Readonly<StorageProgress>) => void>(),
};

/** Options of every run over a storage. */
export interface StorageRunOptions extends rules.Options<typeof RUN_RULES> {}

export const COPY_RULES = {
  ...RUN_RULES,
  /** The source. It may be in use; another run copies changes made during this one. */
  from: rules.required(shapes.imageStorage),
  /**
   * Empty, or left by an earlier run from the same source; of a restore, it may be in use. It must not share a store
   * with `from`.
   */
  to: rules.required(shapes.imageStorage),
  /**
   * Secrets of the service, one of which must belong to the source. A source without an identity gets one with them
   * in the target.
   * @default a secret kept in the source's directory; a restore compares none
   */
  secret: IMAGES_RULES.secret,
  /** Called when everything is copied, before the target is marked as finished. @default nothing */
  beforeFinish: rules.fn<() => Promise<void>>(),
};

/** Options of a copy from one storage to another. The stores stay open. */
export interface StorageCopyOptions extends rules.Options<typeof COPY_RULES> {}

export const MIRROR_RULES = {
  ...COPY_RULES,
  /** Name of the source, without secrets, stored in the target. Only a run with the same name can continue. */
  source: rules.required(rules.text("a name of the source")),
  /** Compares existing blobs by their bytes instead of their sizes. @default false */
  verify: rules.preset(false, rules.flag()),
};

/** Options of a copy that makes the target equal to the source. */
export interface StorageMirrorOptions extends rules.Options<typeof MIRROR_RULES> {}

/** The result of a copy that makes the target equal to the source. */
export interface MirrorReport {
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
  /** Keys that the source has lost or cannot read. Everything else is copied. A backup keeps an earlier good copy, if it has one. */
  damaged: StorageTrouble[];
  /** Keys that did not arrive intact, or not at all: the target is incomplete. */
  failed: StorageTrouble[];
  /** Whether the target has everything that the source can read. */
  isComplete: boolean;
}
