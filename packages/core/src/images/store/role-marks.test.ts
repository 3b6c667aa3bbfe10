import { describe, expect, test } from "vitest";
import { bytesAt, created, type ImageSite, type SiteOptions } from "../../../test/image-site.ts";
import { createDiskStore, createLifeSite, DAY } from "../../../test/life-site.ts";
import { createMount } from "../../../test/store-mount.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore, StorageRoles } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

function divided(): StorageRoles {
  const [records, originals, renditions] = [1, 2, 3].map(() => createMemoryBlobStore());
  if (!records || !originals || !renditions) throw new Error("There are three");
  return { records, originals, renditions };
}

/** A service on stores that stay open after it. */
function siteOn({ records, originals, renditions }: StorageRoles, options: SiteOptions = {}): ImageSite {
  const open = new Map(
    [records, originals, renditions].map((store) => [store, { ...store, close: async () => {} }]),
  );
  const storage = {
    records: open.get(records),
    originals: open.get(originals),
    renditions: open.get(renditions),
  };
  return createLifeSite({ ...options, storage } as object);
}

async function keysOf(store: BlobStore): Promise<string[]> {
  return (await store.list("")).keys.sort();
}

/** Images in divided storage without marks, as a full disk at the first start leaves it. */
async function stockedWithoutMarks(count: number): Promise<StorageRoles> {
  const storage = divided();
  const site = siteOn(storage);
  await site.images.ready();
  for (let index = 0; index < count; index++) await site.create();
  for (const role of ["originals", "renditions"] as const) await storage[role].delete(`identity/${role}`);
  const identity = JSON.parse(String(await bytesAt(storage.records, "identity")));
  delete identity.originalsApart;
  await storage.records.put("identity", Buffer.from(JSON.stringify(identity)));
  return storage;
}

function refusedFor(site: ImageSite, message: string): Promise<void> {
  return expect(site.images.ready()).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining(message),
  });
}

test("two objects of one directory as records and originals are served, by five processes that start at once", async () => {
  const records = createDiskStore();
  const bytes = createDiskStore(records.blobDirectory.replace(/.blobs$/, ""));
  const storage = { records, originals: bytes, renditions: bytes };
  const sites = Array.from({ length: 5 }, () => siteOn(storage));
  await Promise.all(sites.map(({ images }) => images.ready()));
  expect(sites.flatMap(({ errors }) => errors)).toEqual([]);
  const [site, other] = sites;
  const { id } = created(await (site as ImageSite).create());
  expect((await (other as ImageSite).send("GET", `/api/images/${id}.png`)).status).toBe(200);
});

describe.each([false, true])("a start with requireStore: %s", (requireStore) => {
  test.each([0, 1, 6])(
    "rejects an empty or foreign store of the originals beside the records of %i images",
    async (images) => {
      const storage = divided();
      const site = siteOn(storage);
      for (let index = 0; index < images; index++) await site.create();
      const foreign = divided();
      await siteOn(foreign).create();
      for (const originals of [
        createMemoryBlobStore(),
        foreign.originals,
        foreign.records,
        storage.records,
      ]) {
        const before = await keysOf(originals);
        const wrong = siteOn({ ...storage, originals }, { requireStore });
        await refusedFor(wrong, "of the originals");
        expect((await wrong.create()).status).toBe(503);
        expect(wrong.errors).toHaveLength(1);
        expect(await keysOf(originals)).toEqual(before);
      }
    },
  );

  test("rejects records that are empty or another storage's beside the originals, and writes no identity there", async () => {
    const storage = divided();
    await siteOn(storage).create();
    const empty = createMemoryBlobStore();
    await refusedFor(siteOn({ ...storage, records: empty }, { requireStore }), "it has no identity");
    expect(await keysOf(empty)).toEqual([]);
    const other = divided();
    await siteOn(other).create();
    await refusedFor(
      siteOn({ ...storage, records: other.records }, { requireStore }),
      "belongs to another storage",
    );
    // The store of the originals as that of all roles.
    const { originals } = storage;
    const before = await keysOf(originals);
    await refusedFor(
      siteOn({ records: originals, originals, renditions: originals }, { requireStore }),
      "no identity",
    );
    expect(await keysOf(originals)).toEqual(before);
  });

  test("marks renditions again when their mark is missing, and does not use those of another storage", async () => {
    const storage = divided();
    await siteOn(storage).create();
    const renditions = createMemoryBlobStore();
    const site = siteOn({ ...storage, renditions }, { requireStore });
    await site.images.ready();
    expect(await keysOf(renditions)).toEqual(["identity/renditions"]);
    await renditions.delete("identity/renditions");
    await site.images.ready();
    expect(await keysOf(renditions)).toEqual(["identity/renditions"]);
    const other = divided();
    await siteOn(other).images.ready();
    const beside = siteOn({ ...storage, renditions: other.renditions }, { requireStore });
    await beside.images.ready();
    const { id } = created(await beside.create());
    expect((await beside.send("GET", `/api/images/${id}.jpg`)).status).toBe(200);
    expect(await keysOf(other.renditions)).toEqual(["identity/renditions"]);
    expect(beside.errors.map(String)).toEqual([expect.stringContaining("of the renditions belongs")]);
  });
});

describe("stores that never had a mark", () => {
  test.each([0, 1, 6])("with %i images get their marks at the first start", async (count) => {
    const storage = await stockedWithoutMarks(count);
    await siteOn(storage).images.ready();
    expect(await keysOf(storage.renditions)).toEqual(["identity/renditions"]);
    await refusedFor(siteOn({ ...storage, originals: createMemoryBlobStore() }), "lacks its mark");
  });

  test("get marks though their records have no identity, and though some originals are lost", async () => {
    const storage = await stockedWithoutMarks(6);
    await storage.records.delete("identity");
    const [lost = ""] = await keysOf(storage.originals);
    await storage.originals.delete(lost);
    await siteOn(storage).images.ready();
    expect(await keysOf(storage.originals)).toContain("identity/originals");
  });

  test("are rejected, and get no mark, if a sample of the originals is not there", async () => {
    const storage = await stockedWithoutMarks(6);
    const other = await stockedWithoutMarks(3);
    for (const originals of [createMemoryBlobStore(), other.originals, other.records]) {
      const before = await keysOf(originals);
      await refusedFor(siteOn({ ...storage, originals }), "of the originals");
      expect(await keysOf(originals)).toEqual(before);
    }
    const fresh = createMemoryBlobStore();
    await refusedFor(siteOn({ ...storage, records: fresh }), "originals looked up there have a record");
    expect(await keysOf(fresh)).toEqual([]);
  });

  test("without any image are rejected with requireStore", async () => {
    const storage = await stockedWithoutMarks(0);
    await refusedFor(siteOn(storage, { requireStore: true }), "No living image was found");
  });
});

describe("while serving", () => {
  async function served() {
    const storage = divided();
    const originals = createMount(storage.originals);
    const renditions = createMount(storage.renditions);
    const site = siteOn({ ...storage, originals, renditions }, { memoryBytes: 0 });
    const image = created(await site.create());
    return { storage, originals, renditions, site, image };
  }

  test.each(["empty", "foreign"])(
    "originals that become %s answer 503, take no upload, lose nothing to a sweep, and recover",
    async (what) => {
      const { storage, originals, site, image } = await served();
      const other = created(await site.create());
      const foreign = divided();
      await siteOn(foreign).images.ready();
      originals.under = what === "empty" ? createMemoryBlobStore() : foreign.originals;
      const there = await keysOf(originals.under);
      expect((await site.send("GET", `/api/images/${image.id}.png`)).status).toBe(503);
      expect((await site.send("GET", `/api/images/${image.id}.jpg`)).status).toBe(503);
      expect((await site.create()).status).toBe(503);
      expect((await site.create({ headers: { prefer: "respond-async" } })).status).toBe(503);
      await refusedFor(site, "of the originals");
      await site.images.remove(other.id);
      site.clock.now += 2 * DAY;
      await expect(site.images.sweep()).rejects.toMatchObject({ code: "store_unavailable" });
      site.clock.now -= 2 * DAY;
      expect(await keysOf(originals.under)).toEqual(there);
      expect(site.errors.map(String)).toEqual([expect.stringContaining("of the originals")]);
      originals.under = storage.originals;
      expect((await site.send("GET", `/api/images/${image.id}.png`)).status).toBe(200);
      // The deletion is completed where the bytes are.
      expect(await keysOf(storage.originals)).toContain(`${other.id}/original`);
      await site.images.sweep();
      expect(await keysOf(storage.originals)).not.toContain(`${other.id}/original`);
      expect((await site.create()).status).toBe(201);
      await site.images.ready();
    },
  );

  test("renditions that become those of another storage, empty or unavailable stop no uploads", async () => {
    const { renditions, site } = await served();
    renditions.under = createMemoryBlobStore();
    expect((await site.create()).status).toBe(201);
    const { under } = renditions;
    expect(await keysOf(under)).toEqual(["identity/renditions"]);
    const foreign = divided();
    await siteOn(foreign).images.ready();
    renditions.under = foreign.renditions;
    const { id } = created(await site.create());
    await site.images.ready();
    expect((await site.send("GET", `/api/images/${id}.jpg`)).status).toBe(200);
    expect(await keysOf(foreign.renditions)).toEqual(["identity/renditions"]);
    renditions.under = tapStore(under, () => {
      throw new ServiceError("store_unavailable", "No answer.");
    });
    expect((await site.create()).status).toBe(201);
  });
});
