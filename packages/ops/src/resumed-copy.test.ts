import { expect, test } from "vitest";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { created } from "../../core/test/image-site.ts";
import { createLifeSite } from "../../core/test/life-site.ts";
import { stocked } from "../test/stocked-store.ts";
import { migrateStorage } from "./migrate.ts";

test("a run that is stopped and resumed writes no key twice", async () => {
  const { store: from } = await stocked(40);
  const kept = createMemoryBlobStore();
  const written: string[] = [];
  const stop = new AbortController();
  const to: BlobStore = {
    ...kept,
    put: async (key, body, options) => {
      const info = await kept.put(key, body, options);
      if (/^.{22}\//.test(key)) written.push(key);
      if (written.length === 50) stop.abort(new Error("stopped"));
      return info;
    },
  };
  const run = (signal?: AbortSignal) =>
    migrateStorage({ from, to, source: "test", concurrency: 4, ...(signal === undefined ? {} : { signal }) });
  await expect(run(stop.signal)).rejects.toThrow("stopped");
  expect(written.length).toBeLessThan(60);
  expect(await run()).toMatchObject({ isComplete: true, images: 40 });
  expect(written).toHaveLength(120);
  expect(new Set(written).size).toBe(120);
});

test("a migration takes along a deletion of all images of an owner that was interrupted", async () => {
  const store = createMemoryBlobStore();
  const put = store.put.bind(store);
  let left = Number.POSITIVE_INFINITY;
  store.put = (key, ...rest) =>
    key.endsWith("/record") && --left < 0 ? Promise.reject(new Error("The disk is away")) : put(key, ...rest);
  const options = { authorize: () => ({ owner: "anna" }), clock: { now: Date.now() } };
  const source = createLifeSite({ ...options, store });
  const ids = [created(await source.create()).id, created(await source.create()).id];
  options.clock.now += 1000;
  left = 1;
  await expect(source.images.removeAll({ owner: "anna" })).rejects.toThrow("The disk is away");
  left = Number.POSITIVE_INFINITY;
  const to = createMemoryBlobStore();
  expect(await migrateStorage({ from: store, to, source: "test" })).toMatchObject({ isComplete: true });
  const target = createLifeSite({ ...options, store: to });
  const statuses = () =>
    Promise.all(ids.map(async (id) => (await target.send("GET", `/api/images/${id}.json`)).status));
  expect((await statuses()).sort()).toEqual([200, 410]);
  await target.images.sweep();
  expect(await statuses()).toEqual([410, 410]);
});
