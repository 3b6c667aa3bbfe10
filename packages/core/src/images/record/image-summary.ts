import type { OriginalType } from "../../contracts/renderer.ts";
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
  expiresAt: number;
}

export function summaryOf({ id, name, type, size, owner, createdAt, expiresAt }: ImageRecord): ImageSummary {
  return { id, name, type, size, owner: owner?.name ?? null, createdAt, expiresAt };
}
