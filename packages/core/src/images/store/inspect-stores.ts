import { dirname } from "node:path";
import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { StorageRoles } from "../../contracts/blob-store.ts";
import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
import { listAll } from "../../stores/list-all.ts";
import { idOfRecord, keyOf, roleOf } from "../record/image-record.ts";
import { decodeRecord, FORMAT_VERSION, isKnownVersion } from "../record/record-codec.ts";
import {
  BYTES_ROLES,
  type BytesRole,
  type HeldIdentity,
  type HeldMark,
  markKeyOf,
  readIdentity,
  readMark,
  type StoreIdentity,
  StoreRefused,
} from "./store-identity.ts";

/** Milliseconds for an answer of a store of renditions, which nothing needs. */
export const CACHE_PATIENCE_MS = 2000;

/** What must hold of stores, by their caller. */
export interface Inspection {
  /** Roles whose stores are not that of the records: see `rolesApart`. */
  apart: readonly BytesRole[];
  /** Refuses empty stores of records and originals. Renditions may be lost at any time. @default false */
  requireStore?: boolean | undefined;
  /** Accepts originals without a mark, without looking for some of them. @default false */
  acceptUnmarked?: boolean | undefined;
  /** Accepts renditions of another storage, which a service does not use. @default false */
  acceptForeignRenditions?: boolean | undefined;
}

/** Stores that belong together. */
export interface InspectedStores {
  /** `null`: the records have no identity. */
  held: HeldIdentity | null;
  /** Whether the records' store has no permanent key of an image service. */
  isNew: boolean;
  marks: Record<BytesRole, HeldMark | null>;
}

/**
 * Checks that the stores of all roles belong together, and writes nothing. Originals that never had a mark belong to the
 * records if a sample of those is found there, or if both are empty.
 * Rejects with {@link StoreRefused} if they do not, and for a store of a newer release; otherwise like the stores, except that
 * renditions need not answer.
 */
export async function inspectStores(
  stores: StorageRoles,
  { apart, requireStore = false, acceptUnmarked = false, acceptForeignRenditions = false }: Inspection,
): Promise<InspectedStores> {
  // Marks first: a process that writes a mark has written the identity before.
  const [originals, renditions] = await Promise.all([
    readMark(stores.originals, "originals"),
    readCacheMark(stores),
  ]);
  const marks = { originals, renditions };
  const held = await readIdentity(stores.records);
  if (held !== null) requireKnownFormat(held.identity);
  for (const role of BYTES_ROLES) {
    const isAccepted = acceptForeignRenditions && role === "renditions" && held !== null;
    if (!isAccepted) requireOurs(marks[role], role, held);
  }
  const isNew = held === null && (await holdsNothing(stores.records));
  if (isNew && requireStore) throw new StoreRefused(emptyText(stores.records));
  if (originals !== null) return { held, isNew, marks };
  if (held?.identity.originalsApart === true) {
    // A process that starts at the same time may have written both since the first read.
    marks.originals = await readMark(stores.originals, "originals");
    if (marks.originals === null && !acceptUnmarked) {
      throw new StoreRefused(unmarkedText(stores.originals, await sampleOriginals(stores)), "originals");
    }
    requireOurs(marks.originals, "originals", held);
    await requireOtherwiseFree(stores.originals, held);
    return { held, isNew, marks };
  }
  if (apart.includes("originals")) {
    await requireOtherwiseFree(stores.originals, held);
    if (!acceptUnmarked) await requireOriginals(stores, requireStore);
  }
  return { held, isNew, marks };
}

/** The mark of the renditions; `null` also if their store does not answer. */
async function readCacheMark({ renditions }: StorageRoles): Promise<HeldMark | null> {
  const reading = readMark(renditions, "renditions").catch(() => null);
  return (await isSettledWithin(reading, CACHE_PATIENCE_MS)) ? reading : null;
}

/** @throws StoreRefused for a store changed by a newer release. */
export function requireKnownFormat({ v }: Pick<StoreIdentity, "v">): void {
  if (isKnownVersion(v)) return;
  throw new StoreRefused(
    `A newer release has changed this storage: it has format version ${v}, and this release reads version ${FORMAT_VERSION}. Upgrade this process`,
  );
}

/** @throws StoreRefused for the mark of another storage. */
export function requireOurs(mark: HeldMark | null, role: BytesRole, held: HeldIdentity | null): void {
  if (mark === null) return;
  requireKnownFormat(mark);
  if (held?.identity.id === mark.id) return;
  throw new StoreRefused(held === null ? noRecordsText(role) : othersText(role), role);
}

/** Rejects for originals in the records' store of another storage, or in a backup, which has an identity too. */
async function requireOtherwiseFree(originals: BlobStore, held: HeldIdentity | null): Promise<void> {
  const own = await readIdentity(originals);
  if (own !== null && own.identity.id !== held?.identity.id) {
    throw new StoreRefused(othersText("originals"), "originals");
  }
}

async function requireOriginals(stores: StorageRoles, requireStore: boolean): Promise<void> {
  const { from, sampled, found } = await sampleOriginals(stores);
  if (sampled === 0 ? !requireStore : found * 2 > sampled) return;
  if (sampled === 0) throw new StoreRefused(NO_IMAGE, "originals");
  const seen =
    from === "records"
      ? seenText({ found, sampled })
      : `${found} of ${sampled} originals looked up there have a record, and no image has its original there`;
  const subject = `The store of the originals${placeText(stores.originals)}`;
  throw new StoreRefused(
    `${subject} does not belong to these records: ${seen}. Mount or name the right one. ${LOST}`,
    "originals",
  );
}

function seenText({ found, sampled }: Pick<OriginalsSample, "found" | "sampled">): string {
  return `${found} of ${sampled} images looked up have their original there`;
}

/** The directory of a store, for a sentence about it. Others have no name here. */
function placeText(store: BlobStore): string {
  return isLocalStore(store) ? ` (${dirname(store.blobDirectory)})` : "";
}

/** Whether a store has no permanent key of an image service. */
async function holdsNothing(records: BlobStore): Promise<boolean> {
  for await (const key of listAll(records, "")) if (roleOf(key) !== null) return false;
  return true;
}

// A wrong place looks like lost originals, so what ends images comes last. It refuses a place without any of them.
const LOST =
  "If the originals are lost, restore them with outrigger restore. After that, outrigger images verify --repair --max-removals <number> ends the images that no backup has";

/** The refusal of originals that had a mark before. @param seen How many images have their original there, if that was looked up. */
export function unmarkedText(originals: BlobStore, seen: OriginalsSample | null): string {
  const count = seen?.from === "records" && seen.sampled > 0 ? `; ${seenText(seen)}` : "";
  const what = `it lacks its mark (key "${markKeyOf("originals")}"), like a volume that is not mounted`;
  return `The store of the originals${placeText(originals)} is empty or another one: ${what}${count}. Mount or name the right one. If its files were moved here by hand, copy that key too. ${LOST}`;
}

const ANYWAY = "start once without requireStore (outrigger serve: without --existing and OUTRIGGER_EXISTING)";

const NO_IMAGE = `No living image was found in the records, and no original in the store of the originals, so nothing proves that they belong together. Mount or name the right ones; if they are, ${ANYWAY}`;

export function othersText(role: BytesRole): string {
  const remedy = `Name the right one${role === "renditions" ? ", or an empty one" : ""}`;
  return `The store of the ${role} belongs to another storage than the records. ${remedy}`;
}

function noRecordsText(role: BytesRole): string {
  return `The store of the records is not the one that the ${role} belong to: it has no identity. Mount, restore or name the right one; to start over, name empty stores for all roles`;
}

function emptyText(store: BlobStore): string {
  const what = isLocalStore(store) ? "The data directory" : "The storage";
  return `${what} is empty, and an existing one is required. Mount the right one; to start with an empty one, ${ANYWAY}`;
}

/** A sample of images, and how many of them are in both stores. */
interface OriginalsSample {
  /** `records`: living images, whose originals were looked up. `originals`: originals, whose records were looked up. */
  from: "records" | "originals";
  sampled: number;
  found: number;
}

const MAX_IMAGES = 50;
/** Records read to find living images among ended ones. */
const MAX_RECORDS = 500;
const AT_ONCE = 8;

/**
 * Looks up the originals of some living images. Without living images, the records of some originals. `sampled` is 0 if there
 * are neither.
 */
async function sampleOriginals(stores: StorageRoles): Promise<OriginalsSample> {
  const { records, originals } = stores;
  const sample: OriginalsSample = { from: "records", sampled: 0, found: 0 };
  const ids = await firstKeys(records, MAX_RECORDS, (key) => idOfRecord(key) !== null);
  await forEachAtOnce(ids, AT_ONCE, async (key) => {
    if (sample.sampled >= MAX_IMAGES) return;
    const picture = await pictureIn(records, key);
    if (picture === null) return;
    const isThere = (await originals.stat(picture)) !== null;
    // An image that ended meanwhile proves nothing.
    if (!isThere && (await pictureIn(records, key)) !== picture) return;
    sample.sampled++;
    if (isThere) sample.found++;
  });
  return sample.sampled > 0 ? sample : sampleRecords(originals, [records]);
}

/** Looks up the records of some originals, in any of these stores. */
export async function sampleRecords(
  originals: BlobStore,
  records: readonly BlobStore[],
): Promise<OriginalsSample> {
  const keys = await firstKeys(originals, MAX_IMAGES, (key) => roleOf(key) === "originals");
  let found = 0;
  await forEachAtOnce(keys, AT_ONCE, async (key) => {
    const record = keyOf.record(key.slice(0, key.indexOf("/")));
    const infos = await Promise.all(records.map((store) => store.stat(record)));
    if (infos.some((info) => info !== null)) found++;
  });
  return { from: "originals", sampled: keys.length, found };
}

async function firstKeys(
  store: BlobStore,
  most: number,
  isWanted: (key: string) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  for await (const key of listAll(store, "")) {
    if (isWanted(key)) found.push(key);
    if (found.length === most) break;
  }
  return found;
}

/** Key of the bytes that an image must have; `null`: it has ended, or its record cannot be read. */
async function pictureIn(records: BlobStore, key: string): Promise<string | null> {
  const blob = await records.get(key);
  if (blob === null) return null;
  try {
    const { id, gone, failure, damaged, processing } = decodeRecord(await readAll(blob.body));
    // An expired image keeps its bytes until its record says that it is gone.
    if (gone !== null || failure !== null || damaged === true) return null;
    return processing === null ? keyOf.original(id) : keyOf.upload(id);
  } catch (error) {
    if (isServiceError(error, "damaged") || isServiceError(error, "store_unavailable")) return null;
    throw error;
  }
}
