import { ServiceError } from "../../errors.ts";
import { jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/known-version.ts";

/** The last change for an image. Kept until the image's record is known to agree. */
export interface Note {
  /** Bytes of the original, reserved or released. */
  bytes: number;
  /** Time of the change or of its last check, in Unix milliseconds. */
  atMs: number;
  kind: "reserved" | "released";
}

/** The number of images and bytes of one owner, reservations included. */
export interface Tally {
  images: number;
  /** Total bytes of the originals. */
  bytes: number;
  /** Number of changes so far, in all epochs. */
  turn: number;
  /** Whether this is the last state of its epoch. The next change creates the next epoch. */
  isSealed: boolean;
  /** By image ID, least recently changed first. */
  notes: Map<string, Note>;
}

/** The tally of an owner without images, as the end of an epoch before the first. */
export const EMPTY_TALLY: Tally = { images: 0, bytes: 0, turn: 0, isSealed: true, notes: new Map() };

/** A copy of the tally for the next change. */
export function nextTurn(tally: Tally): Tally {
  return { ...tally, turn: tally.turn + 1, isSealed: false, notes: new Map(tally.notes) };
}

/** Counts an image that the tally does not include yet. */
export function reserveBytes(tally: Tally, id: string, bytes: number, atMs: number): void {
  tally.images += 1;
  tally.bytes += bytes;
  writeNote(tally, id, { bytes, atMs, kind: "reserved" });
}

/** Removes an image from the count. */
export function releaseBytes(tally: Tally, id: string, bytes: number, atMs: number): void {
  // Never below 0: an image may be older than its owner's tally.
  tally.images = Math.max(0, tally.images - 1);
  tally.bytes = Math.max(0, tally.bytes - bytes);
  writeNote(tally, id, { bytes, atMs, kind: "released" });
}

/** Moves a note to the end of the notes. */
export function writeNote(tally: Tally, id: string, note: Note): void {
  tally.notes.delete(id);
  tally.notes.set(id, note);
}

export function encodeTally({ notes, ...rest }: Tally): Buffer {
  const stored = { v: FORMAT_VERSION, ...rest, open: Object.fromEntries(notes) };
  return Buffer.from(JSON.stringify(stored), "utf8");
}

/**
 * The inverse of {@link encodeTally}. @throws NewerVersion for the tally of a newer release, `damaged` for any other
 * fault.
 */
export function decodeTally(bytes: Buffer, key: string): Tally {
  const { v, open, ...rest } = Object(jsonIn(bytes)) as Omit<Tally, "notes"> & {
    v?: unknown;
    open: Record<string, Note>; // Checked below.
  };
  requireKnownVersion(v, `The tally of an owner (key "${key}")`);
  const numbers = [rest.images, rest.bytes, rest.turn];
  const areNumbers = numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
  const isTally =
    areNumbers && typeof rest.isSealed === "boolean" && typeof open === "object" && open !== null;
  if (isTally && Object.values(open).every(isNote)) return { ...rest, notes: new Map(Object.entries(open)) };
  throw new ServiceError("damaged", `The tally of an owner (key "${key}") is damaged`);
}

function isNote(note: Note | null): boolean {
  const { bytes, atMs, kind } = note ?? {};
  return (
    Number.isSafeInteger(bytes) && Number.isSafeInteger(atMs) && (kind === "reserved" || kind === "released")
  );
}
