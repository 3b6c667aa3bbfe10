import { ServiceError } from "../../errors.ts";
import { jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/record-codec.ts";

/** The last change for an image. Kept until the image's record is known to agree. */
export interface Note {
  /** Bytes of the original, reserved or released. */
  bytes: number;
  /** Time of the change or of its last check, in Unix milliseconds. */
  atMs: number;
  kind: "reserved" | "released";
}

/** The number of images and bytes of one owner, reservations included. */
export interface UsageRecord {
  images: number;
  /** Total bytes of the originals. */
  bytes: number;
  /** By image ID, least recently changed first. */
  notes: Map<string, Note>;
}

/** A note that is not settled after this time was left behind by a crash. */
export const NOTE_LIFE_MS = 15 * 60_000;

/** The usage of an owner without images. */
export function noUsage(): UsageRecord {
  return { images: 0, bytes: 0, notes: new Map() };
}

/** Counts an image that the usage does not include yet. */
export function reserveBytes(usage: UsageRecord, id: string, bytes: number, atMs: number): void {
  usage.images += 1;
  usage.bytes += bytes;
  writeNote(usage, id, { bytes, atMs, kind: "reserved" });
}

/** Removes an image from the count. */
export function releaseBytes(usage: UsageRecord, id: string, bytes: number, atMs: number): void {
  // Never below 0: an image may be older than its owner's usage.
  usage.images = Math.max(0, usage.images - 1);
  usage.bytes = Math.max(0, usage.bytes - bytes);
  writeNote(usage, id, { bytes, atMs, kind: "released" });
}

/** Moves a note to the end of the notes. */
export function writeNote(usage: UsageRecord, id: string, note: Note): void {
  usage.notes.delete(id);
  usage.notes.set(id, note);
}

export function encodeUsage({ images, bytes, notes }: UsageRecord): Buffer {
  const stored = { v: FORMAT_VERSION, images, bytes, open: Object.fromEntries(notes) };
  return Buffer.from(JSON.stringify(stored), "utf8");
}

/** The inverse of {@link encodeUsage}. @throws NewerVersion for the usage of a newer release, `damaged` for any other fault. */
export function decodeUsage(stored: Buffer, key: string): UsageRecord {
  const { v, images, bytes, open } = Object(jsonIn(stored)) as UsageRecord & {
    v?: unknown;
    open: Record<string, Note>; // Checked below.
  };
  requireKnownVersion(v, `The usage of an owner (key "${key}")`);
  const areNumbers = [images, bytes].every((number) => Number.isSafeInteger(number) && number >= 0);
  if (areNumbers && typeof open === "object" && open !== null && Object.values(open).every(isNote)) {
    return { images, bytes, notes: new Map(Object.entries(open)) };
  }
  throw new ServiceError("damaged", `The usage of an owner (key "${key}") is damaged`);
}

function isNote(note: Note | null): boolean {
  const { bytes, atMs, kind } = note ?? {};
  return (
    Number.isSafeInteger(bytes) && Number.isSafeInteger(atMs) && (kind === "reserved" || kind === "released")
  );
}
