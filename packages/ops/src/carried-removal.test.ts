import { expect, test } from "vitest";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { created } from "../../core/test/image-site.ts";
import { createLifeSite } from "../../core/test/life-site.ts";
import { migrateStorage } from "./migrate.ts";

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
