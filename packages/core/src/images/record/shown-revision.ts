import { createHash } from "node:crypto";
import type { ImageRecord, Outbox } from "./image-record.ts";

const known = new WeakMap<ImageRecord, string>();

/** The revision that clients see: a digest of the record without its outbox, so that a delivery fails no `If-Match`. */
export function shownRevision(record: ImageRecord): string {
  let revision = known.get(record);
  if (revision === undefined) {
    const { outbox: _, ...state } = record;
    // A record that was read has its fields in another order than the one that was written.
    const fields = Object.entries(state).filter(([, value]) => value !== undefined);
    const text = JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
    revision = createHash("sha256").update(text).digest("base64url").slice(0, 22);
    known.set(record, revision);
  }
  return revision;
}

/** The record with another outbox. @param outbox `undefined`: it gets none */
export function withOutbox(record: ImageRecord, outbox: Outbox | undefined): ImageRecord {
  const { outbox: _, ...others } = record;
  return outbox === undefined ? others : { ...others, outbox };
}
