import type { BlobStore } from "../src/contracts/blob-store.ts";
import { createImageId } from "../src/images/record/image-id.ts";
import {
  createRenditionBounds,
  type RenditionBoundsOptions,
} from "../src/images/renditions/bounds/rendition-bounds.ts";
import { createUsageLedger } from "../src/images/renditions/bounds/usage-ledger.ts";
import { createRenditionNotes } from "../src/images/renditions/rendition-notes.ts";
import { createMemoryBlobStore } from "../src/stores/memory/memory-blob-store.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const NOON = Date.parse("2026-03-01T12:00:00.000Z");

type SiteOptions = Partial<Pick<RenditionBoundsOptions, "maxBytes" | "idleDays">> & {
  store?: BlobStore;
  clock?: { now: number };
};

/** One process with rendition bounds. */
export function createBoundsSite(options: SiteOptions = {}) {
  const { store = createMemoryBlobStore(), clock = { now: NOON }, maxBytes = null, idleDays = 30 } = options;
  const errors: unknown[] = [];
  const bounds = createRenditionBounds({
    ...{ store, maxBytes, idleDays, rankOf: () => "inTurn", now: () => clock.now },
    notes: createRenditionNotes({ records: store, renditions: store, now: () => 0 }),
    onError: (error) => errors.push(error),
  });
  const put = (id: string, bytes: number, name = "png") =>
    bounds.store({ id, size: 1, createdAt: 1 }, keyOf(id, name), Buffer.alloc(bytes));
  const keep = async (afterMs = 0) => {
    clock.now += afterMs;
    await bounds.keep(() => true);
  };
  const another = (more: SiteOptions = {}) => createBoundsSite({ store, clock, maxBytes, idleDays, ...more });
  return { store, clock, bounds, errors, put, keep, another };
}

export const keyOf = (id: string, name = "png") => `${id}/renditions/${name}`;
export const idsOf = (count: number) => Array.from({ length: count }, createImageId);

export async function storedOf(store: BlobStore, ids: readonly string[]): Promise<boolean[]> {
  return Promise.all(ids.map(async (id) => (await store.stat(keyOf(id))) !== null));
}

export async function bytesIn(store: BlobStore): Promise<number> {
  let bytes = 0;
  for (const key of (await store.list("")).keys) {
    if (key.includes("/renditions/")) bytes += (await store.stat(key))?.size ?? 0;
  }
  return bytes;
}

export async function ledgerOf(store: BlobStore) {
  const ledger = createUsageLedger(store);
  const { shards, batches } = await ledger.keys();
  const keys = [...shards.values()].flat().map(({ key }) => key);
  return ledger.read([...keys, ...batches]);
}
