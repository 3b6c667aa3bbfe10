import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { idOfRecord, keyOf, roleOf } from "../record/image-record.ts";
import { decodeRecord } from "../record/record-codec.ts";
import type { StorageRoles } from "../record/storage-roles.ts";

/** A sample of images, and how many of them are in both stores. */
export interface OriginalsSample {
  /** `records`: living images, whose originals were looked up. `originals`: originals, whose records were looked up. */
  from: "records" | "originals";
  looked: number;
  found: number;
}

const MAX_IMAGES = 50;
/** Records read to find living images among ended ones. */
const MAX_RECORDS = 500;
const AT_ONCE = 8;

/**
 * Looks up the originals of some living images. Without living images, the records of some originals. `looked` is 0 if there
 * are neither.
 */
export async function sampleOriginals(stores: StorageRoles): Promise<OriginalsSample> {
  const { records, originals } = stores;
  const sample: OriginalsSample = { from: "records", looked: 0, found: 0 };
  const ids = await firstKeys(records, MAX_RECORDS, (key) => idOfRecord(key) !== null);
  await eachOf(ids, async (key) => {
    if (sample.looked >= MAX_IMAGES) return;
    const picture = await pictureIn(records, key);
    if (picture === null) return;
    const isThere = (await originals.stat(picture)) !== null;
    // An image that ended meanwhile proves nothing.
    if (!isThere && (await pictureIn(records, key)) !== picture) return;
    sample.looked++;
    if (isThere) sample.found++;
  });
  return sample.looked > 0 ? sample : sampleRecords(originals, [records]);
}

/** Looks up the records of some originals, in any of these stores. */
export async function sampleRecords(
  originals: BlobStore,
  records: readonly BlobStore[],
): Promise<OriginalsSample> {
  const keys = await firstKeys(originals, MAX_IMAGES, (key) => roleOf(key) === "originals");
  let found = 0;
  await eachOf(keys, async (key) => {
    const record = keyOf.record(key.slice(0, key.indexOf("/")));
    const looks = await Promise.all(records.map((store) => store.stat(record)));
    if (looks.some((info) => info !== null)) found++;
  });
  return { from: "originals", looked: keys.length, found };
}

async function eachOf(keys: readonly string[], look: (key: string) => Promise<void>): Promise<void> {
  async function* each() {
    yield* keys;
  }
  await forEachAtOnce(each(), AT_ONCE, look);
}

async function firstKeys(
  store: BlobStore,
  most: number,
  isWanted: (key: string) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list("", cursor === undefined ? {} : { cursor });
    found.push(...page.keys.filter(isWanted));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < most);
  return found.slice(0, most);
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
