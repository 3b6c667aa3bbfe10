import type { StoreRole } from "@outrigger/core";
import { IMAGES_RULES } from "@outrigger/core/images";
import { rules, shapes } from "@outrigger/core/stores";
import { RUN_RULES } from "./options.ts";

/**
 * Kind of a problem.
 *
 * - `damaged-record`: the record of an image cannot be read
 * - `missing-original`: the record exists, but its original (or its unprocessed upload) is missing
 * - `wrong-size`, `wrong-digest`: the size or the SHA-256 of the original differs from its record
 * - `orphaned-bytes`: an original or an upload has no record
 * - `orphaned-rendition`: a rendition has no record
 * - `ended-bytes`: an original or a rendition of an image that ended more than an hour ago; it is never served
 * - `missing-entry`: the index of an owner's images lacks an image
 * - `damaged-usage`: the usage of an owner cannot be read
 * - `damaged-claim`: the claim of an Idempotency-Key cannot be read
 * - `damaged-reports`: the reports of an image cannot be read
 * - `unreadable`: the store fails for this key, but answers for others; or this process may not read a directory
 * - `newer`: a newer version wrote it; not a defect
 */
export type VerifyProblem =
  | "damaged-record"
  | "missing-original"
  | "wrong-size"
  | "wrong-digest"
  | "orphaned-bytes"
  | "orphaned-rendition"
  | "ended-bytes"
  | "missing-entry"
  | "damaged-usage"
  | "damaged-claim"
  | "damaged-reports"
  | "unreadable"
  | "newer";

export interface VerifyFinding {
  /** ID of the image; `null`: the key belongs to no image. */
  id: string | null;
  /** The stored key; for a directory, its absolute path. */
  key: string;
  /** Kind of the problem. */
  what: VerifyProblem;
  /** A clause without a full stop. */
  detail: string;
  /** The repair: `restored` from the backup, `removed`, `counted` again, or `failed`. `null`: no repair was attempted. */
  repair: "restored" | "removed" | "counted" | "failed" | null;
}

/** The results of a verification. */
export interface VerifyReport {
  /** Number of image records. */
  images: number;
  /** Number of living images with their original, restored ones included. */
  intact: number;
  /** Bytes read. */
  bytes: number;
  /** Defects, including repaired ones. */
  defects: number;
  /** Repaired defects. */
  repaired: number;
  /** Records written by a newer version. */
  newer: number;
  /**
   * Defects that only a removal ends: damaged images that were not restored, and orphaned originals. More of them than
   * `maxRemovals`: a repair has removed nothing.
   */
  unrestorable: number;
  /** Orphaned originals among them. */
  orphans: number;
  /** Originals without a record that may belong to uploads in progress: undecided, since more than 1000 images were due. */
  undecided: number;
}

export const EMPTY_REPORT: VerifyReport = {
  images: 0,
  intact: 0,
  bytes: 0,
  defects: 0,
  repaired: 0,
  newer: 0,
  unrestorable: 0,
  orphans: 0,
  undecided: 0,
};

/** The stores in the order of their check. */
export const PHASES: readonly StoreRole[] = ["records", "originals", "renditions"];

/** What a repair is about to remove, or does not remove. */
export interface PlannedRemovals {
  /** Number of images that would end, and of orphaned originals that would be deleted. */
  removals: number;
  /** Number of images and orphaned originals. */
  of: number;
  /** Most removals. */
  most: number;
  isAllowed: boolean;
  /** No image has its original. Their place may be wrong, so no number allows the removals. */
  areAllAbsent: true | undefined;
}

export const VERIFY_RULES = {
  ...RUN_RULES,
  /** The storage to verify, which may be in use. The stores stay open. */
  storage: rules.required(shapes.imageStorage),
  /**
   * Repairs defects after everything was checked: restores from `backup` if possible, otherwise removes. Rejects with
   * `store_unavailable` if the stores do not belong together, or no service ever started on them.
   * @default false
   */
  repair: rules.preset(false, rules.flag()),
  /**
   * A repair that would remove more images and orphaned originals removes none. Any number also accepts a store of
   * originals without a mark. If no image has its original, no number ends more than 3 images, or any without a mark.
   * @default `3`, or 1 % of them if that is more
   */
  maxRemovals: rules.whole(0),
  /** Called once before a repair removes something, or decides not to. @default not called */
  onRemovals: rules.fn<(planned: PlannedRemovals) => void>(),
  /** An older copy of the storage, in the same form. @default none */
  backup: shapes.imageStorage,
  /** Most bytes of originals read per second, from 1. @default 50000000 */
  maxBytesPerSecond: rules.preset(50e6, rules.size(1)),
  /** `tombstoneDays` of the service. Only a repair needs it. @default 30 */
  tombstoneDays: IMAGES_RULES.tombstoneDays,
  /** Called with the error of a failed repair. @default not called */
  onError: rules.preset(() => undefined, rules.fn<(error: unknown) => void>()),
  /** Called for each finding. @default findings are only counted */
  onFinding: rules.fn<(finding: VerifyFinding) => void>(),
};

export interface VerifyOptions extends rules.Options<typeof VERIFY_RULES> {}
