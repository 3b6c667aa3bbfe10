import { createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { created, createSite, eventually, type ImageSite } from "../../../test/image-site.ts";
import { BROWSER, createLifeSite, DAY, entriesOf, tracesOf } from "../../../test/life-site.ts";
import { createMount } from "../../../test/store-mount.ts";
import { holdUp, signal, tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const UNKNOWN = "AAAAAAAAAAAAAAAAAAAAAA";

async function anotherStore(): Promise<BlobStore> {
  const store = createMemoryBlobStore();
  await createSite({ store }).images.ready();
  return store;
}

/** Statuses of every request that depends on a record, and of a create. */
async function statusesIn(site: ImageSite, id: string): Promise<number[]> {
  const statuses = [
    (await site.send("GET", `/api/images/${id}.json`)).status,
    (await site.send("GET", `/api/images/${id}.png`)).status,
    (await site.send("GET", `/${id}`, { headers: BROWSER })).status,
    (await site.send("GET", `/${id}/view`, { headers: BROWSER })).status,
    (await site.send("POST", `/${id}/edit`, { headers: BROWSER, fields: {} })).status,
    (await site.send("DELETE", `/api/images/${id}.json`, { search: "pin=1" })).status,
    (await site.create()).status,
  ];
  return statuses;
}

test.each([
  ["empty", async () => createMemoryBlobStore(), "has become empty"],
  ["another storage", anotherStore, "was replaced by another one"],
])(
  "a storage that becomes %s answers 503 everywhere, and recovers when it is back",
  async (_what, other, said) => {
    const lines: string[] = [];
    const info = (_fields: object, message: string) => lines.push(message);
    const home = createMemoryBlobStore();
    const mount = createMount(home);
    const site = createLifeSite({ store: mount, logger: { info, warn() {}, error() {} } });
    const { id } = created(await site.create());
    const before = (await home.list("")).keys;
    const elsewhere = await other();
    const there = (await elsewhere.list("")).keys;
    mount.under = elsewhere;
    expect(new Set(await statusesIn(site, id))).toEqual(new Set([503]));
    await expect(site.images.ready()).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(site.images.sweep()).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(site.images.withhold(id, { reason: "no" })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(site.errors.map(String)).toEqual([expect.stringContaining(said)]);
    expect((await elsewhere.list("")).keys.sort()).toEqual(there.sort());

    mount.under = home;
    expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(200);
    expect((await site.send("GET", `/api/images/${UNKNOWN}.json`)).status).toBe(404);
    expect((await site.create()).status).toBe(201);
    await expect(site.images.ready()).resolves.toBeUndefined();
    expect((await home.list("")).keys).toEqual(expect.arrayContaining(before));
    expect(lines.filter((line) => line === "the storage is back")).toHaveLength(1);
    mount.under = elsewhere;
    expect((await site.create()).status).toBe(503);
    expect(site.errors).toHaveLength(2);
  },
);

test("a sweep removes no bytes if the record is missing because its storage is gone", async () => {
  const records = createMount(createMemoryBlobStore());
  const bytes = createMemoryBlobStore();
  const storage = { records, originals: bytes, renditions: bytes };
  let sweeps = 0;
  const home = records.under;
  // The storage disappears during the sweep, at the first read of a record.
  const get = records.get;
  records.get = (key, options) => {
    if (sweeps > 0 && key.endsWith("/record")) records.under = createMemoryBlobStore();
    return get(key, options);
  };
  const site = createLifeSite({ storage } as object);
  const { id } = created(await site.create());
  const kept = (await bytes.list("")).keys;
  expect(kept.sort()).toEqual([`${id}/original`, "identity/originals", "identity/renditions"].sort());
  site.clock.now += DAY;
  sweeps++;
  expect(await site.images.sweep()).toMatchObject({ emptied: 0, forgotten: 0, failed: 1 });
  expect((await bytes.list("")).keys.sort()).toEqual(kept);
  records.get = get;
  records.under = home;
  expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(410);
});

test("pending work is kept while the storage is missing", async () => {
  const home = createMemoryBlobStore();
  const renderer = createFakeRenderer();
  const first = createSite({ store: home, renderer, sweepEveryMs: false });
  const { id } = created(await first.create({ headers: { prefer: "respond-async" } }));
  await renderer.next();
  first.kill();
  const held = holdUp(({ method, key }) => method === "get" && key === `${id}/record`);
  const mount = createMount(tapStore(home, held.tap));
  const next = createSite({ store: mount, clock: { now: first.clock.now + DAY / 2 } });
  await held.reached;
  // The record and the identity disappear; the upload stays, as if it had its own store.
  const record = (await home.get(`${id}/record`))?.body as Buffer;
  const identity = (await home.get("identity"))?.body as Buffer;
  await home.delete(`${id}/record`);
  await home.delete("identity");
  held.letGo();
  await eventually(() => expect(next.errors.map(String)).toEqual([expect.stringContaining("become empty")]));
  expect(await tracesOf(home, id)).toContain(`${id}/upload`);
  expect(await entriesOf(home, "jobs")).toHaveLength(1);
  await home.put("identity", identity);
  await home.put(`${id}/record`, record);
  await expect(next.images.ready()).resolves.toBeUndefined();
});

test("a check of the identity that started before a record was found missing does not confirm the miss", async () => {
  const home = createMemoryBlobStore();
  const mount = createMount(home);
  const reached = signal();
  const answered = signal();
  let isHeld = false;
  const { get } = mount;
  mount.get = async (key, options) => {
    const found = await get(key, options);
    if (key !== "identity" || !isHeld) return found;
    isHeld = false;
    reached.give();
    await answered.promise;
    return found;
  };
  const site = createLifeSite({ store: mount });
  await site.images.ready();
  isHeld = true;
  const early = site.send("GET", `/api/images/${UNKNOWN}.json`);
  await reached.promise;
  mount.under = createMemoryBlobStore();
  const late = site.send("GET", `/api/images/${UNKNOWN}.json`);
  // In this turn the late request finds its record missing.
  await new Promise(setImmediate);
  answered.give();
  expect((await early).status).toBe(404);
  expect((await late).status).toBe(503);
});
