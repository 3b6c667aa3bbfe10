import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { BlobStore, ImageStorage } from "../../core/src/contracts/blob-store.ts";
import { Pins } from "../../core/src/images/record/pin.ts";
import { readIdentity } from "../../core/src/images/store/store-identity.ts";
import { type Secret, toKeys } from "../../core/src/secret-bytes.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { created, createSite, keysOf } from "../../core/test/image-site.ts";
import { createLifeSite } from "../../core/test/life-site.ts";
import { tapStore } from "../../core/test/tapped-store.ts";
import { backupStorage } from "./backup.ts";
import { migrateStorage } from "./migrate.ts";
import { restoreStorage } from "./restore.ts";

const RIGHT = "a secret of at least 32 bytes, the right one";
const WRONG = "a secret of at least 32 bytes, the wrong one";

interface Stocked {
  store: BlobStore;
  id: string;
  pin: string;
}

async function stocked(secret: Secret = RIGHT): Promise<Stocked> {
  const store = createMemoryBlobStore();
  const { id, pin } = created(await createLifeSite({ store, secret, clock: { now: Date.now() } }).create());
  return { store, id, pin };
}

function siteOn(storage: ImageStorage, secret: Secret) {
  const open = (store: BlobStore): BlobStore => ({ ...store, close: async () => {} });
  const kept =
    "records" in storage
      ? {
          records: open(storage.records),
          originals: open(storage.originals),
          renditions: open(storage.renditions),
        }
      : open(storage);
  return createLifeSite({ secret, storage: kept, clock: { now: Date.now() } } as object);
}

async function migrated(from: ImageStorage, secret?: Secret): Promise<BlobStore> {
  const to = createMemoryBlobStore();
  const given = secret === undefined ? {} : { secret };
  expect(await migrateStorage({ from, to, source: "test", ...given })).toMatchObject({ isComplete: true });
  return to;
}

async function withoutIdentity({ store }: Stocked): Promise<BlobStore> {
  await store.delete("identity");
  return store;
}

const WAYS: Record<string, (home: Stocked) => Promise<ImageStorage>> = {
  "was filled by a service": async ({ store }) => store,
  "was migrated": ({ store }) => migrated(store),
  "was migrated with the secret": ({ store }) => migrated(store, RIGHT),
  "was migrated with a list of secrets": ({ store }) => migrated(store, [WRONG, RIGHT]),
  "was migrated with the secret from a store without an identity": async (home) =>
    migrated(await withoutIdentity(home), RIGHT),
  "was migrated again to the same target": async ({ store }) => {
    const to = await migrated(store);
    await migrateStorage({ from: store, to, source: "test" });
    return to;
  },
  "was migrated over an identity that a service had left": async ({ store }) => {
    const to = createMemoryBlobStore();
    await createSite({ store: to, secret: WRONG, sweepEveryMs: false }).images.ready();
    await migrateStorage({ from: store, to, source: "test" });
    return to;
  },
  "was migrated to a store for each role": async ({ store }) => {
    const [records, originals, renditions] = [
      createMemoryBlobStore(),
      createMemoryBlobStore(),
      createMemoryBlobStore(),
    ];
    const to = { records, originals, renditions };
    await migrateStorage({ from: store, to, source: "test" });
    return to;
  },
  "was restored from a backup of a migrated store": async ({ store }) => {
    const [backup, to] = [createMemoryBlobStore(), createMemoryBlobStore()];
    await backupStorage({ from: await migrated(store), to: backup, source: "test" });
    await restoreStorage({ from: backup, to });
    return to;
  },
};

test.each(Object.entries(WAYS))(
  "a storage that %s is refused with another secret at its first start, and served with the right one",
  async (_way, fill) => {
    const home = await stocked();
    const storage = await fill(home);
    const wrong = siteOn(storage, WRONG);
    await expect(wrong.images.ready()).rejects.toThrow("made with another secret");
    expect((await wrong.create()).status).toBe(503);
    const right = siteOn(storage, RIGHT);
    await right.images.ready();
    const edit = { headers: { "x-service-image-pin": home.pin }, fields: { name: "renamed" } };
    expect((await right.send("PATCH", `/api/images/${home.id}.json`, edit)).status).toBe(200);
  },
);

test("a migrated store has the ID of its source, so its backup goes on", async () => {
  const { store } = await stocked();
  const backup = createMemoryBlobStore();
  await backupStorage({ from: store, to: backup, source: "the old place" });
  const to = await migrated(store);
  expect((await readIdentity(to))?.identity).toEqual((await readIdentity(store))?.identity);
  const again = { from: to, to: backup, source: "the new place" };
  expect(await backupStorage(again)).toMatchObject({ isComplete: true });
});

test("a restore onto an empty store of lost originals resumes after an interruption, and refuses unknown originals", async () => {
  const [records, originals, renditions, backup] = [1, 2, 3, 4].map(() => createMemoryBlobStore());
  if (!records || !originals || !renditions || !backup) throw new Error("There are four");
  const site = siteOn({ records, originals, renditions }, RIGHT);
  for (let index = 0; index < 3; index++) expect((await site.create()).status).toBe(201);
  await backupStorage({ from: { records, originals, renditions }, to: backup, source: "test" });
  const cut = new AbortController();
  let puts = 0;
  const refilled = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (method === "put" && key.endsWith("/original") && ++puts === 2) cut.abort(new Error("Enough"));
  });
  const lost = { records, originals: refilled, renditions };
  const run = { from: backup, to: lost, concurrency: 1 };
  await expect(restoreStorage({ ...run, signal: cut.signal })).rejects.toThrow("Enough");
  expect(await keysOf(lost.originals)).not.toEqual([]);
  await expect(siteOn(lost, RIGHT).images.ready()).rejects.toThrow("lacks its mark");
  await lost.originals.put("AAAAAAAAAAAAAAAAAAAAAA/original", Buffer.from("of another storage"));
  await expect(restoreStorage(run)).rejects.toThrow("lacks its mark");
  await lost.originals.delete("AAAAAAAAAAAAAAAAAAAAAA/original");
  expect(await restoreStorage(run)).toMatchObject({ wasLiving: true, isComplete: true });
  await siteOn(lost, RIGHT).images.ready();
});

test("a migration with a secret that is not of its source rejects before it writes", async () => {
  const { store } = await stocked();
  const to = createMemoryBlobStore();
  const migration = migrateStorage({ from: store, to, source: "test", secret: WRONG });
  await expect(migration).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("the secret is not"),
  });
  expect(await keysOf(to)).toEqual([]);
});

describe("a secret as text base64:…", () => {
  const bytes = randomBytes(32);
  const text = `base64:${bytes.toString("base64")}`;

  test("is decoded as by the command, also without padding, in its URL form, and in a list", () => {
    const url = `base64:${bytes.toString("base64url")}`;
    for (const each of [text, url, [text], bytes]) expect(toKeys(each)).toEqual([bytes]);
    expect(toKeys([RIGHT, text])).toEqual([Buffer.from(RIGHT), bytes]);
    expect(new Pins(text).pinOf("an image")).toBe(new Pins(bytes).pinOf("an image"));
  });

  test.each([
    "base64:",
    "base64:?",
    "base64:AAAA",
    `base64:${"A".repeat(40)}`,
    `base64:${Buffer.alloc(24, 7).toString("base64")}`,
  ])("%s is refused with the way to keep it, and opens as bytes if they are enough", (wrong) => {
    expect(() => createSite({ secret: wrong })).toThrow(TypeError);
    expect(() => createSite({ secret: wrong })).toThrow("give its bytes: Buffer.from(text)");
    expect(() => toKeys(wrong)).toThrow("give its bytes: Buffer.from(text)");
    if (wrong.length >= 32) expect(toKeys(Buffer.from(wrong))).toEqual([Buffer.from(wrong)]);
    expect(() => createSite({ secret: [RIGHT, wrong] })).toThrow(/^(?!.*AAAA)/);
  });

  test("opens a migrated store that was bound to the bytes", async () => {
    const home = await stocked(bytes);
    await siteOn(await migrated(home.store), text).images.ready();
    await siteOn(await migrated(home.store, text), bytes).images.ready();
  });
});
