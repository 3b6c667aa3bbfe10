import type { OriginalType } from "../../contracts/renderer.ts";
import { ALL_FORMATS } from "./formats.ts";
import type { ImageRecord } from "./image-record.ts";

/** An image for the host app, without its PIN. Dates are Unix milliseconds. */
export interface ImageSummary {
  id: string;
  /** Name given by the uploader. Untrusted text. */
  name: string;
  type: OriginalType;
  /** Bytes of the original. */
  size: number;
  /** Owner named by `authorize` at upload; `null` if there is none, or after the bytes were removed. */
  owner: string | null;
  createdAt: number;
  /** `null`: never. */
  expiresAt: number | null;
}

export function summaryOf({ id, name, type, size, owner, createdAt, expiresAt }: ImageRecord): ImageSummary {
  return { id, name, type, size, owner: owner?.name ?? null, createdAt, expiresAt };
}

/** An image of which caches may have copies. */
export interface PurgedImage extends ImageSummary {
  /**
   * Paths below the mount point at which caches may have copies, each with any query after it. They differ only in the suffix
   * after the ID.
   */
  paths: readonly string[];
}

/** `edited`: the name, the focus or an earlier expiry. */
export type PurgeReason = "withheld" | "deleted" | "edited";

export function purgedImageOf(record: ImageRecord): PurgedImage {
  const suffixes = [...ALL_FORMATS, "jpeg", "auto"];
  return { ...summaryOf(record), paths: suffixes.map((suffix) => `/api/images/${record.id}.${suffix}`) };
}
