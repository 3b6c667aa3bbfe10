import { statfs } from "node:fs/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createCacheSite, createDirectory, keyOf, STORES } from "../../../test/cache-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  return { ...real, statfs: vi.fn(real.statfs) };
});

describe.each(STORES)("the limit of an image in %s", (_name, createStore) => {
  const MOST = 64;

  test("a rendition beyond the 64th evicts the least recently used one", async () => {
    const { cache, clock, create, put, names } = createCacheSite({ store: createStore() });
    const image = create();
    for (let side = 1; side <= MOST; side++) {
      clock.now++;
      await put(image, `png-${side}x${side}`, 1);
    }
    clock.now++;
    cache.used(image, keyOf(image, "png-1x1"));
    for (const name of ["gif-1x1", "gif-2x2"]) await put(image, name, 1);
    const left = await names(image);
    expect(left).toHaveLength(MOST);
    expect(left).toEqual(expect.arrayContaining(["png-1x1", "png-4x4", "gif-1x1", "gif-2x2"]));
    expect(left).not.toContain("png-2x2");
    expect(left).not.toContain("png-3x3");
  });

  test("renditions stored at once stay within the limit together", async () => {
    const { create, put, names, another } = createCacheSite({ store: createStore() });
    const image = create();
    const other = another();
    const puts = Array.from({ length: MOST + 20 }, (_, side) =>
      (side % 2 === 0 ? put : other.put)(image, `png-1x${side + 1}`, 1),
    );
    await Promise.all(puts);
    // The last write of each process sees all others.
    await put(image, "gif", 1);
    expect((await names(image)).length).toBeLessThanOrEqual(MOST);
  });
});

test("stored renditions are noted where they are remote, and listed once for an image from before there were notes", async () => {
  const calls: string[] = [];
  const memory = createMemoryBlobStore();
  const store = tapStore(memory, ({ method }) => void calls.push(method));
  const site = createCacheSite({ store, clock: { now: 1000 } });
  await site.cache.notes.open();
  const image = site.create();
  for (const side of [1, 2, 3, 4]) await site.put(image, `png-${side}x${side}`, 1);
  expect(calls).not.toContain("list");

  const earlier = site.create({ createdAt: 999 });
  await memory.put(keyOf(earlier, "png-1x1"), Buffer.alloc(7));
  await memory.put(`${earlier.id}/original`, Buffer.alloc(9));
  await site.put(earlier, "png-2x2", 1);
  expect(calls.filter((method) => method === "list")).toHaveLength(1);
  await site.another().put(earlier, "png-3x3", 2);
  expect(calls.filter((method) => method === "list")).toHaveLength(1);
  expect(await site.names(earlier)).toEqual(["png-1x1", "png-2x2", "png-3x3"]);
  expect(await memory.stat(`${earlier.id}/original`)).not.toBeNull();
});

describe("the free part of a disk", () => {
  beforeEach(() => {
    vi.mocked(statfs).mockClear();
  });
  const disk = { type: 0, bsize: 4096, bfree: 0, files: 1000, ffree: 1000 };

  test.each([
    [49, false],
    [50, true],
  ])("with %i of 1000 blocks free, a directory stores a rendition: %s", async (bavail, isStored) => {
    const { create, put } = createCacheSite({ store: createDirectory() });
    vi.mocked(statfs).mockResolvedValueOnce({ ...disk, blocks: 1000, bavail });
    expect(await put(create(), "png", 10)).toBe(isStored);
    expect(statfs).toHaveBeenCalledOnce();
  });

  test("does not matter for a remote store, nor where it is unknown", async () => {
    const remote = createCacheSite();
    expect(await remote.put(remote.create(), "png", 10)).toBe(true);
    expect(statfs).not.toHaveBeenCalled();
    const local = createCacheSite({ store: createDirectory() });
    vi.mocked(statfs).mockRejectedValueOnce(new Error("ENOSYS"));
    expect(await local.put(local.create(), "png", 10)).toBe(true);
  });
});
