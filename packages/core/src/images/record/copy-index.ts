import type { BlobStore } from "../../contracts/blob-store.ts";
import { type FoundEntry, hashOfName, NameIndex } from "../../stores/name-index.ts";
import { hashesOf, type ImageRecord } from "./image-record.ts";

/**
 * Index of the images by the SHA-256 of their bytes, before and after cleaning: finds the copies of an image. An image has its
 * entries until it ends. A crash may leave one behind; who reads it finds no image.
 */
export class CopyIndex {
  readonly entries: NameIndex;

  constructor(store: BlobStore) {
    this.entries = new NameIndex(store, "copies", true);
  }

  /** Adds the entries of an image. Adding existing ones changes nothing. @param draft Its record when it got some. @default it has none */
  async add(record: ImageRecord, draft?: ImageRecord): Promise<void> {
    const added = draft === undefined ? [] : hashesOf(draft);
    const hashes = hashesOf(record).filter((hash) => !added.includes(hash));
    await Promise.all(hashes.map((hash) => this.entries.add(hash, record)));
  }

  /** Removes the entries of an image whose record still has its hashes. */
  async remove(record: ImageRecord): Promise<void> {
    await Promise.all(hashesOf(record).map((hash) => this.entries.remove(hash, record)));
  }

  /** The images of these bytes, and some that have ended. @param hash SHA-256 in hex. */
  list(hash: string): AsyncGenerator<FoundEntry> {
    return this.entries.list(hashOfName(hash));
  }
}
