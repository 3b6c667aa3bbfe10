import { expect, test } from "vitest";
import { migrateStorage } from "../../../../ops/src/migrate.ts";
import { bytesAt, created, eventually, storedRecord } from "../../../test/image-site.ts";
import { BROWSER, createLifeSite, DAY, tracesOf } from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createDueList } from "../../stores/due-list.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { readMigrationMark } from "../store/store-identity.ts";

const KEY = { headers: { "idempotency-key": "8e03978e-40d5" } };

/** Changes stored JSON as another release would. */
async function rewrite(store: BlobStore, key: string, changes: object): Promise<void> {
  const stored = JSON.parse(String(await bytesAt(store, key)));
  await store.put(key, Buffer.from(JSON.stringify({ ...stored, ...changes })));
}

async function keysBelow(store: BlobStore, prefix: string): Promise<string[]> {
  return (await store.list(prefix)).keys;
}

test("an edit keeps fields of other releases", async () => {
  const site = createLifeSite();
  const { id, pin } = created(await site.create());
  await rewrite(site.store, `${id}/record`, { mood: "sunny" });
  const edit = { headers: { "x-service-image-pin": pin }, fields: { name: "renamed" } };
  expect((await site.send("PATCH", `/api/images/${id}.json`, edit)).status).toBe(200);
  expect(await storedRecord(site.store, id)).toMatchObject({ v: 1, mood: "sunny", name: "renamed" });
});

test.each([2, 1.5, 0, "1", null])(
  "a record of version %j answers 503 to every request and is logged once by its ID; all other images are served",
  async (v) => {
    const site = createLifeSite();
    const { id, pin } = created(await site.create());
    const other = created(await site.create());
    await rewrite(site.store, `${id}/record`, { v, quarantined: {} });
    const path = `/api/images/${id}.json`;
    const edit = { headers: { "x-service-image-pin": pin }, fields: { name: "renamed" } };
    expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(503);
    expect((await site.send("GET", path)).status).toBe(503);
    expect((await site.send("GET", `/${id}`, { headers: BROWSER })).status).toBe(503);
    expect((await site.send("PATCH", path, edit)).status).toBe(503);
    expect((await site.send("DELETE", path, { search: `pin=${pin}` })).status).toBe(503);
    await expect(site.images.withhold(id, { reason: "no" })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining(id),
    });
    expect((await site.send("GET", `/api/images/${other.id}.json`)).status).toBe(200);
    const listed = [];
    for await (const image of site.images.list()) listed.push(image.id);
    expect(listed).toEqual([other.id]);
    expect(await site.images.stats()).toMatchObject({ images: 1, newer: 1 });
    const said = site.errors.map(String);
    expect(said).toEqual([
      expect.stringContaining(
        `The record of image ${id} has format version ${JSON.stringify(v)}, and this release reads version 1`,
      ),
    ]);
  },
);

test("a sweep leaves an image of a newer release unchanged, and sweeps the others", async () => {
  const site = createLifeSite({ tombstoneDays: 0 });
  const { id } = created(await site.create());
  const other = created(await site.create());
  const before = await tracesOf(site.store, id);
  await rewrite(site.store, `${id}/record`, { v: 2 });
  site.clock.now += DAY;
  expect(await site.images.sweep()).toMatchObject({ forgotten: 1, failed: 1 });
  site.clock.now += DAY;
  expect(await site.images.sweep()).toMatchObject({ looked: 1, failed: 1 });
  expect(await tracesOf(site.store, id)).toEqual(before);
  expect(await tracesOf(site.store, other.id)).toEqual([]);
  expect(site.errors).toHaveLength(1);
});

test("a claim and a usage of a newer release answer 503 and stay unchanged", async () => {
  const site = createLifeSite({ authorize: () => ({ owner: "anna" }) });
  const { id } = created(await site.create(KEY));
  const [claim = ""] = await keysBelow(site.store, "idempotency/");
  await rewrite(site.store, claim, { v: 2 });
  const claimed = await bytesAt(site.store, claim);
  expect((await site.create(KEY)).status).toBe(503);
  site.clock.now += 2 * DAY;
  await site.images.sweep();
  expect(await bytesAt(site.store, claim)).toEqual(claimed);
  const another = site.another();
  const usages = await keysBelow(site.store, "usage/");
  for (const usage of usages) await rewrite(site.store, usage, { v: 2 });
  const counted = await bytesAt(site.store, usages[0] ?? "");
  expect((await another.create()).status).toBe(503);
  await expect(another.images.usage("anna")).rejects.toMatchObject({ code: "store_unavailable" });
  expect(await bytesAt(site.store, usages[0] ?? "")).toEqual(counted);
  expect(await tracesOf(site.store, id)).toContain(`${id}/record`);
});

test("a migration copies records of a newer release as bytes, with their pictures, and makes them due at once", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  await rewrite(site.store, `${id}/record`, { v: 2, expiresAt: "never" });
  await site.store.put(`${id}/upload`, Buffer.from("as it came"));
  const to = createMemoryBlobStore();
  const report = await migrateStorage({ from: site.store, to, source: "test" });
  expect(report).toMatchObject({ images: 1, damaged: [], failed: [], isComplete: true });
  for (const part of ["record", "original", "upload"]) {
    expect(await bytesAt(to, `${id}/${part}`)).toEqual(await bytesAt(site.store, `${id}/${part}`));
  }
  expect(await createDueList(to, "images").due(0, 10)).toEqual([{ id, dueMs: 0 }]);
  expect(await createDueList(to, "jobs").due(0, 10)).toEqual([{ id, dueMs: 0 }]);
  await rewrite(to, "migration/state", { v: 2 });
  await expect(readMigrationMark(to)).rejects.toMatchObject({ code: "store_unavailable" });
  await expect(migrateStorage({ from: site.store, to, source: "test", patienceMs: 0 })).rejects.toMatchObject(
    {
      code: "store_unavailable",
    },
  );
});

test("a job for an image of a newer release is left to that release", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  await rewrite(site.store, `${id}/record`, { v: 2, processing: { tries: 0, leaseUntil: 0, worker: null } });
  const before = await bytesAt(site.store, `${id}/record`);
  await createDueList(site.store, "jobs").add({ id, dueMs: 0 });
  const worker = site.another();
  await eventually(() => expect(worker.errors).toHaveLength(1));
  expect(await bytesAt(site.store, `${id}/record`)).toEqual(before);
  expect(await createDueList(site.store, "jobs").due(0, 10)).toHaveLength(1);
});
