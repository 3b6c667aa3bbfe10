import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEachFile } from "../../../test/support/hooks.ts";
import type { BlobStore } from "../src/contracts/blob-store.ts";
import { createImageId, type ImageRecord } from "../src/images/record/image-record.ts";
import { RenditionCache } from "../src/images/renditions/rendition-cache.ts";
import { createDueList } from "../src/stores/due-list.ts";
import { createFsBlobStore, type FsBlobStore } from "../src/stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../src/stores/memory/memory-blob-store.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const NOON = Date.parse("2026-03-01T12:00:00.000Z");

const directories: string[] = [];
afterEachFile(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

export function createDirectory(): FsBlobStore {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-cache-"));
  directories.push(directory);
  return createFsBlobStore({ directory });
}

export const STORES: [string, () => BlobStore][] = [
  ["memory", createMemoryBlobStore],
  ["a directory", createDirectory],
];

interface SiteOptions {
  store?: BlobStore;
  clock?: { now: number };
  idleDays?: number;
  /** Records of living images by ID. */
  living?: Map<string, ImageRecord>;
}

/** A process that stores renditions. */
export function createCacheSite(options: SiteOptions = {}) {
  const { store = createMemoryBlobStore(), clock = { now: NOON }, idleDays = 30 } = options;
  const living = options.living ?? new Map<string, ImageRecord>();
  const errors: unknown[] = [];
  const cache = new RenditionCache({
    records: store,
    renditions: store,
    loadLiving: async (id) => living.get(id) ?? null,
    idleDays,
    now: () => clock.now,
    onError: (error) => errors.push(error),
  });
  const create = (more: Partial<ImageRecord> = {}): ImageRecord => {
    const record = { id: createImageId(), size: 1, createdAt: clock.now, expiresAt: null, ...more };
    living.set(record.id, record as ImageRecord);
    return record as ImageRecord; // As much as the cache reads.
  };
  const put = async (image: ImageRecord, name: string, bytes: number) => {
    await cache.store(image, keyOf(image, name), Buffer.alloc(bytes));
    return (await store.stat(keyOf(image, name))) !== null;
  };
  const names = async ({ id }: ImageRecord) => {
    const { keys } = await store.list(`${id}/renditions/`);
    return keys.map((key) => key.split("/")[2]).sort();
  };
  const sweep = async (afterMs = 0) => {
    clock.now += afterMs;
    await cache.sweep(() => true);
  };
  const entries = () => createDueList(store, "renditions").due(Number.POSITIVE_INFINITY, 1000);
  const another = (more: SiteOptions = {}) => createCacheSite({ store, clock, idleDays, living, ...more });
  return { store, clock, living, cache, errors, create, put, names, sweep, entries, another };
}

export const keyOf = ({ id }: ImageRecord, name: string) => `${id}/renditions/${name}`;
