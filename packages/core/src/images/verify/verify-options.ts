import type { StoreRole } from "../../contracts/observer.ts";
import type { ImagesOptions } from "../images-options.ts";
import type { MigrationProgress } from "../migrate/migrate-options.ts";
import type { ImageStorage } from "../record/storage-roles.ts";

/**
 * What is not as it should be.
 *
 * - `damaged-record`: the record of an image cannot be read
 * - `missing-original`: there is a record, and its original (or the upload that waits to be processed) is not there
 * - `wrong-size`, `wrong-digest`: the original has another size, or another SHA-256, than its record says
 * - `orphaned-bytes`: there is an original or an upload, and no record
 * - `orphaned-rendition`: there is a rendition, and no record
 * - `damaged-tally`: the count of what an owner has cannot be read
 * - `damaged-claim`: what is kept of an Idempotency-Key cannot be read
 * - `unreadable`: the store fails for this key, and answers for others
 * - `newer`: a newer version wrote it; this is no defect
 */
export type VerifyProblem =
  | "damaged-record"
  | "missing-original"
  | "wrong-size"
  | "wrong-digest"
  | "orphaned-bytes"
  | "orphaned-rendition"
  | "damaged-tally"
  | "damaged-claim"
  | "unreadable"
  | "newer";

export interface VerifyFinding {
  /** Of the image; `null` for what belongs to none. */
  id: string | null;
  /** Under which it is stored. */
  key: string;
  what: VerifyProblem;
  /** A clause without a full stop. */
  detail: string;
  /**
   * What was done about it: the backup's copy is in its place, it was removed, it was counted anew, or it could not be
   * repaired. `null` where nothing was to be done.
   */
  repair: "restored" | "removed" | "counted" | "failed" | null;
}

/** How far a verification is, as {@link MigrationProgress}. `bytes` are those that were read. */
export interface VerifyProgress extends MigrationProgress {
  phase: "counting" | StoreRole;
}

/** Where a verification goes on. Plain data, to be kept as JSON. */
export interface VerifyState {
  /** Whose keys are looked at. */
  phase: StoreRole;
  /** Of the store's list; `null`: at its beginning. */
  cursor: string | null;
  /** Keys that were looked at. */
  keys: number;
  /** Keys that were counted at the beginning. */
  totalKeys: number;
  /** What was found until then. */
  report: VerifyReport;
}

/** What was found so far, in an earlier run that this one goes on with included. */
export interface VerifyReport {
  /** Records of images. */
  images: number;
  /** Bytes that were read. */
  bytes: number;
  /** Defects, the repaired ones included. */
  defects: number;
  /** Defects that were repaired. */
  repaired: number;
  /** Written by a newer version. */
  newer: number;
  /** Originals without a record that may be uploads under way: more than 1000 images were due, so that this cannot be told. */
  undecided: number;
}

export interface VerifyOptions extends Pick<ImagesOptions, "tombstoneDays" | "onRemoved" | "now"> {
  /** It may be in use. The stores stay open. */
  storage: ImageStorage;
  /** Repairs what is found, as far as possible from `backup`; removes it otherwise. @default false */
  repair?: boolean;
  /** An older copy of the storage, in the same form. @default none */
  backup?: ImageStorage;
  /** Bytes of originals that are read in a second, a whole number from 1. @default 50000000 */
  maxBytesPerSecond?: number;
  /** Keys that are looked at a time, 1 to 256. @default 4 */
  concurrency?: number;
  /** How long a store that fails is tried again; milliseconds from 0. @default 60000 */
  patienceMs?: number;
  /** Called with the reason why a repair failed. @default not called */
  onError?(error: unknown): void;
  /** Goes on where an earlier run over the same storage was. @default from the beginning */
  state?: VerifyState;
  /** Keeps where a later run can go on; awaited every few hundred keys. @default not kept */
  saveState?(state: VerifyState): Promise<void>;
  /** Aborting ends it after the keys that are under way; the promise rejects with the signal's reason. @default never */
  signal?: AbortSignal;
  /** Called for each finding. @default findings are only counted */
  onFinding?(finding: VerifyFinding): void;
  /** Called with how far it is: the same object each time, changed. @default not called */
  onProgress?(progress: Readonly<VerifyProgress>): void;
}
