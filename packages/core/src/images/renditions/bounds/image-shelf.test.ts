import { describe, expect, test } from "vitest";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../../stores/memory/memory-blob-store.ts";
import { createImageId } from "../../record/image-id.ts";
import { createRenditionNotes } from "../rendition-notes.ts";
import { createImageShelf, maxBytesOf, measureImage, type RankOf } from "./image-shelf.ts";

const id = createImageId();
const keyOf = (name: string) => `${id}/renditions/${name}`;

interface ShelfSite {
  store?: BlobStore;
  /** Whether the notes name stored renditions, and say so from the beginning. */
  isNoted?: boolean;
}

/** A shelf on a store that records calls of list and stat. */
function createShelf({ store = createMemoryBlobStore(), isNoted = false }: ShelfSite = {}) {
  const calls: string[] = [];
  const counted: BlobStore = {
    ...store,
    list: (...args) => {
      calls.push("list");
      return store.list(...args);
    },
    stat: (...args) => {
      calls.push("stat");
      return store.stat(...args);
    },
  };
  const rankOf: RankOf = (key) =>
    key.includes("/old") ? "first" : key.includes("/intermediate") ? "last" : "inTurn";
  const notes = createRenditionNotes({ records: store, renditions: store, now: () => 0 });
  notes.areStoredNoted = isNoted;
  const image = { id, createdAt: 1 };
  const shelf = createImageShelf({ store: counted, notes, image, rankOf, now: () => 0 });
  const put = async (name: string, bytes: number, maxBytes = 100) => {
    if (!(await shelf.makeRoom(keyOf(name), bytes, maxBytes))) return false;
    await store.put(keyOf(name), Buffer.alloc(bytes));
    await shelf.settle(keyOf(name), true);
    return true;
  };
  const names = async () =>
    [...(await measureImage(store, id)).keys()].map((key) => key.split("/")[2]).sort();
  return { shelf, store, put, names, calls };
}

test.each([
  [1, 32 * 2 ** 20],
  [3 * 2 ** 20, 32 * 2 ** 20],
  [10_000_000, 100_000_000],
])("the limit for renditions of an original of %i bytes is %i bytes", (original, max) => {
  expect(maxBytesOf(original)).toBe(max);
});

describe.each([false, true])("with noted renditions: %s", (isNoted) => {
  test("a rendition that does not fit evicts the least recently used ones", async () => {
    const { shelf, put, names } = createShelf({ isNoted });
    for (const name of ["a", "b", "c"]) await put(name, 30);
    shelf.touch(keyOf("a"));
    await put("d", 50);
    expect(await names()).toEqual(["a", "d"]);
    expect(shelf.bytes()).toBe(80);
  });

  test("renditions of older releases are evicted first, and intermediates last", async () => {
    const { put, names } = createShelf({ isNoted });
    for (const name of ["intermediate-p1", "a", "old", "b"]) await put(name, 25);
    await put("c", 25);
    expect(await names()).toEqual(["a", "b", "c", "intermediate-p1"]);
    await put("d", 75);
    expect(await names()).toEqual(["d", "intermediate-p1"]);
    await put("e", 100);
    expect(await names()).toEqual(["e"]);
  });

  test("intermediates take at most half of the space while renditions are stored", async () => {
    const { put, names } = createShelf({ isNoted });
    await put("a", 20);
    for (let page = 1; page <= 5; page++) await put(`intermediate-p${page}`, 20);
    expect(await names()).toEqual(
      [2, 3, 4, 5]
        .map((page) => `intermediate-p${page}`)
        .concat("a")
        .sort(),
    );
  });

  test("a rendition that is larger than the limit is not stored, and evicts nothing", async () => {
    const { put, names } = createShelf({ isNoted });
    await put("a", 60);
    expect(await put("b", 101)).toBe(false);
    expect(await names()).toEqual(["a"]);
  });

  test("an image has at most 256 stored renditions", async () => {
    const { put, names } = createShelf({ isNoted });
    for (let number = 0; number < 300; number++) await put(`r${number}`, 1, 10_000);
    const left = await names();
    expect(left).toHaveLength(256);
    expect(left).not.toContain("r43");
    expect(left).toContain("r44");
  });

  test("renditions stored by another process count towards the limit", async () => {
    const store = createMemoryBlobStore();
    const [one, other] = [createShelf({ store, isNoted }), createShelf({ store, isNoted })];
    await one.put("a", 40);
    await other.put("b", 40);
    await one.put("c", 40);
    await other.put("d", 40);
    expect(await one.names()).toEqual(["b", "d"]);
    await one.put("e", 40);
    expect(await one.names()).toEqual(["d", "e"]);
  });

  test("renditions stored concurrently stay within the limit together", async () => {
    const { put, names, shelf } = createShelf({ isNoted });
    const stored = await Promise.all(Array.from({ length: 20 }, (_, number) => put(`r${number}`, 30)));
    expect(stored.filter(Boolean).length).toBeGreaterThanOrEqual(3);
    expect((await names()).length).toBeLessThanOrEqual(3);
    expect(shelf.bytes()).toBeLessThanOrEqual(100);
  });

  test("a rendition that could not be written does not count", async () => {
    const { shelf } = createShelf({ isNoted });
    await shelf.makeRoom(keyOf("a"), 90, 100);
    await shelf.settle(keyOf("a"), false);
    expect(shelf.bytes()).toBe(0);
  });
});

test("the first write lists the store, and later writes list it again only before an eviction", async () => {
  const { put, calls } = createShelf();
  await put("a", 30);
  expect(calls).toEqual(["list"]);
  await put("b", 30);
  await put("c", 30);
  expect(calls).toEqual(["list"]);
  await put("d", 30);
  // Blobs that this process stored need no stat.
  expect(calls).toEqual(["list", "list"]);
});

test("the first write measures the blobs already stored", async () => {
  const store = createMemoryBlobStore();
  await store.put(keyOf("before"), Buffer.alloc(70));
  await store.put(`${id}/failures/f`, Buffer.alloc(10));
  await store.put(`${id}/original`, Buffer.alloc(500));
  const { put, shelf } = createShelf({ store });
  await put("a", 20);
  expect(shelf.bytes()).toBe(100);
  await put("b", 20);
  expect(await store.stat(`${id}/original`)).not.toBeNull();
  expect(await store.stat(keyOf("before"))).toBeNull();
});

test("notes replace lists: none is made, and an earlier image is listed once for all processes", async () => {
  const { put, calls } = createShelf({ isNoted: true });
  for (const name of ["a", "b", "c", "d"]) await put(name, 30);
  expect(calls).toEqual([]);

  const store = createMemoryBlobStore();
  // Notes are complete from now on, which is after the image was created.
  await store.put("rendition-notes/since", Buffer.from("2"));
  await store.put(keyOf("before"), Buffer.alloc(70));
  const [one, other] = [createShelf({ store, isNoted: true }), createShelf({ store, isNoted: true })];
  await one.put("a", 20);
  await other.put("b", 5);
  expect([one.calls, other.calls]).toEqual([["list", "stat"], []]);
  expect(other.shelf.bytes()).toBe(95);
});
