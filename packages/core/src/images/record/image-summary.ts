import type { OriginalType } from "../../contracts/renderer.ts";
import type { ImageRecord } from "./image-record.ts";

/** An image for host code, without its PIN. Dates are Unix milliseconds. */
export interface ImageSummary {
  id: string;
  /** As its uploader named it. Untrusted text. */
  name: string;
  type: OriginalType;
  /** Bytes of the original. */
  size: number;
  /** As `authorize` named it when the image was uploaded; `null` for none, and for an image whose bytes are removed. */
  owner: string | null;
  createdAt: number;
  expiresAt: number;
}

export function summaryOf({ id, name, type, size, owner, createdAt, expiresAt }: ImageRecord): ImageSummary {
  return { id, name, type, size, owner: owner?.name ?? null, createdAt, expiresAt };
}
