import type { OriginalType } from "../contracts/renderer.ts";
import type { Agent } from "../http/agent.ts";

/** The work that an accepted upload waits for. Whoever does it holds a lease, taken by compare-and-set on the record. */
export interface Processing {
  /** Leases taken, the present one included. One that was given back without a verdict about the file does not count. */
  tries: number;
  /** Nobody else may take the work before this time. */
  leaseUntil: number;
  /** Who holds the lease; `null`: nobody. */
  worker: string | null;
}

/** What is kept of an image beside its bytes. Dates are Unix milliseconds. */
export interface ImageRecord {
  id: string;
  name: string;
  type: OriginalType;
  /** Bytes of the original; of the upload as it came, while that is processed. */
  size: number;
  /** SHA-256 of the same bytes, hex. */
  sha256: string;
  width: number | null;
  height: number | null;
  pages: number | null;
  agent: Agent | null;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
  /** When its owner deleted it; `null` while it lives. */
  removedAt: number | null;
  /** What has to be done before it can be served; `null` when nothing has. */
  processing: Processing | null;
  /** Why the upload was refused after it had been accepted; `null` where it was not. */
  failure: string | null;
}

export function encodeRecord(record: ImageRecord): Buffer {
  return Buffer.from(JSON.stringify(record), "utf8");
}

/** The inverse of {@link encodeRecord}; throws on anything else. */
export function decodeRecord(bytes: Buffer): ImageRecord {
  const record = JSON.parse(bytes.toString("utf8")) as ImageRecord; // Written by encodeRecord, under a key of our own.
  if (typeof record.id !== "string" || typeof record.expiresAt !== "number")
    throw new Error("Not an image record");
  // Records of earlier versions, which took files in while the client waited, lack the two.
  return { ...record, processing: record.processing ?? null, failure: record.failure ?? null };
}

/** Whether an image is to be had at `now`, and when not, in which words. */
export function whyGone(record: ImageRecord, nowMs: number): string | null {
  if (record.removedAt !== null) return "This image was deleted.";
  if (record.expiresAt <= nowMs) return `This image expired at ${new Date(record.expiresAt).toISOString()}.`;
  return null;
}

/** Keys under which the parts of an image are stored: all of them under its ID, so that removal is complete. */
export const keyOf = {
  record: (id: string) => `${id}/record`,
  original: (id: string) => `${id}/original`,
  /** The file as it came, while it waits to be processed. Never served. */
  upload: (id: string) => `${id}/upload`,
  rendition: (id: string, name: string) => `${id}/renditions/${name}`,
  failure: (id: string, name: string) => `${id}/failures/${name}`,
};
