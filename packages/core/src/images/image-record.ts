import type { OriginalType } from "../contracts/renderer.ts";
import type { Agent } from "../http/agent.ts";

/** What is kept of an image beside its bytes. Dates are Unix milliseconds. */
export interface ImageRecord {
  id: string;
  name: string;
  type: OriginalType;
  /** Bytes of the original. */
  size: number;
  /** SHA-256 of the original, hex. */
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
}

export function encodeRecord(record: ImageRecord): Buffer {
  return Buffer.from(JSON.stringify(record), "utf8");
}

/** The inverse of {@link encodeRecord}; throws on anything else. */
export function decodeRecord(bytes: Buffer): ImageRecord {
  const record = JSON.parse(bytes.toString("utf8")) as ImageRecord; // Written by encodeRecord, under a key of our own.
  if (typeof record.id !== "string" || typeof record.expiresAt !== "number")
    throw new Error("Not an image record");
  return record;
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
  rendition: (id: string, name: string) => `${id}/renditions/${name}`,
  failure: (id: string, name: string) => `${id}/failures/${name}`,
};
