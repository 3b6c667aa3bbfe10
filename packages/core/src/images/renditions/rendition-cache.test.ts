import { statfs } from "node:fs/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createCacheSite, createDirectory, keyOf, MIB, STORES } from "../../../test/cache-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { maxStoredBytes } from "../../contracts/renderer.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  return { ...real, statfs: vi.fn(real.statfs) };
});

test.each([
  [1, 8 * MIB],
  [800_000, 8 * MIB],
  [10_000_000, 100_000_000],
])("the limit for renditions of an original of %i bytes is %i bytes", (original, max) => {
  expect(maxStoredBytes(original)).toBe(max);
});

describe.each(STORES)("the limit of an image in %s", (_name, createStore) => {
  const open = () => {
    const site = createCacheSite({ store: createStore() });
    const image = site.create();
    return {
      ...site,
      image,
      fill: (name: string, mib: number) => site.put(image, name, mib * MIB),
    };
  };

  test("a rendition that does not fit evicts the least recently used ones", async () => {
    const { cache, clock, image, fill, names } = open();
    for (const name of ["png-1x1", "png-2x2", "png-3x3"]) {
      clock.now++;
      await fill(name, 2);
    }
    clock.now++;
    cache.used(image, keyOf(image, "png-1x1"));
    await fill("png-4x4", 5);
    expect(await names(image)).toEqual(["png-1x1", "png-4x4"]);
  });

  test("a rendition that is larger than the limit is not stored, and evicts nothing", async () => {
    const { image, fill, names } = open();
    await fill("png-1x1", 6);
    expect(await fill("png-2x2", 9)).toBe(false);
    expect(await names(image)).toEqual(["png-1x1"]);
  });

  test("an image has at most 256 stored renditions", async () => {
    const { clock, image, put, names } = open();
    for (let side = 1; side <= 300; side++) {
      clock.now++;
      await put(image, `png-${side}x${side}`, 1);
    }
    const left = await names(image);
    expect(left).toHaveLength(256);
    expect(left).not.toContain("png-44x44");
    expect(left).toContain("png-45x45");
  });

  test("renditions stored at once stay within the limit together", async () => {
    const { image, fill, names, another } = open();
    const other = another();
    await Promise.all(
      Array.from({ length: 20 }, (_, side) =>
        side % 2 === 0 ? fill(`png-1x${side + 1}`, 3) : other.put(image, `png-1x${side + 1}`, 3 * MIB),
      ),
    );
    // The last write of each process sees all others.
    await fill("png-2x2", 3);
    expect((await names(image)).length).toBeLessThanOrEqual(2);
  });
});

test("the sizes of stored renditions are noted where they are remote, and listed once for an image from before there were notes", async () => {
  const calls: string[] = [];
  const memory = createMemoryBlobStore();
  const store = tapStore(memory, ({ method }) => void calls.push(method));
  const site = createCacheSite({ store, clock: { now: 1000 } });
  await site.cache.notes.open();
  const image = site.create();
  for (const side of [1, 2, 3, 4]) await site.put(image, `png-${side}x${side}`, 3 * MIB);
  expect(calls).not.toContain("list");

  const earlier = site.create({ createdAt: 999 });
  await memory.put(keyOf(earlier, "png-1x1"), Buffer.alloc(7 * MIB));
  await memory.put(`${earlier.id}/original`, Buffer.alloc(9 * MIB));
  await site.put(earlier, "png-2x2", 1);
  expect(calls.filter((method) => method === "list")).toHaveLength(1);
  await site.another().put(earlier, "png-3x3", 2 * MIB);
  expect(calls.filter((method) => method === "list")).toHaveLength(1);
  expect(await site.names(earlier)).toEqual(["png-2x2", "png-3x3"]);
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
