import { ServiceError } from "../../errors.ts";
import { jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/known-version.ts";

/** The last change for an image. Kept until its record is known to agree. */
export interface Note {
  /** Of its original: reserved or released. */
  bytes: number;
  /** When it changed, or was last checked; Unix milliseconds. */
  atMs: number;
  kind: "reserved" | "released";
}

/** Images and bytes of one owner, reservations included. */
export interface Tally {
  images: number;
  /** Bytes of the originals together. */
  bytes: number;
  /** Changes so far, in all epochs. */
  turn: number;
  /** Whether this is the last state of its epoch: the next change begins another. */
  isSealed: boolean;
  /** By the image's ID, the longest untouched first. */
  notes: Map<string, Note>;
}

/** The tally of an owner without images, as if an epoch before the first had ended. */
export const EMPTY_TALLY: Tally = { images: 0, bytes: 0, turn: 0, isSealed: true, notes: new Map() };

/** The tally that the next change works on. */
export function nextTurn(tally: Tally): Tally {
  return { ...tally, turn: tally.turn + 1, isSealed: false, notes: new Map(tally.notes) };
}

/** Counts an image that is not counted yet. */
export function reserveBytes(tally: Tally, id: string, bytes: number, atMs: number): void {
  tally.images += 1;
  tally.bytes += bytes;
  writeNote(tally, id, { bytes, atMs, kind: "reserved" });
}

/** Counts an image no more. */
export function releaseBytes(tally: Tally, id: string, bytes: number, atMs: number): void {
  // Not below 0: an image may be older than the tally of its owner.
  tally.images = Math.max(0, tally.images - 1);
  tally.bytes = Math.max(0, tally.bytes - bytes);
  writeNote(tally, id, { bytes, atMs, kind: "released" });
}

/** Puts a note behind all others. */
export function writeNote(tally: Tally, id: string, note: Note): void {
  tally.notes.delete(id);
  tally.notes.set(id, note);
}

export function encodeTally({ notes, ...rest }: Tally): Buffer {
  const stored = { v: FORMAT_VERSION, ...rest, open: Object.fromEntries(notes) };
  return Buffer.from(JSON.stringify(stored), "utf8");
}

/** The inverse of {@link encodeTally}. Throws NewerVersion for the tally of a newer release, `damaged` for anything else. */
export function decodeTally(bytes: Buffer, key: string): Tally {
  const { v, open, ...rest } = Object(jsonIn(bytes)) as Omit<Tally, "notes"> & {
    v?: unknown;
    open: Record<string, Note>; // Checked here.
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
