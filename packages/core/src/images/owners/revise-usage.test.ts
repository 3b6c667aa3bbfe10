import { expect, test } from "vitest";
import { createOwnerSite } from "../../../test/owner-site.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const MINUTE_MS = 60_000;
const OWNER = "owner";

test("an image that was stored before a crash keeps its quota", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  await site.start().reserve(OWNER, "stored", 5, {});
  site.records.add("stored");
  site.nowMs += 16 * MINUTE_MS;
  await site.start().reserve(OWNER, "next", 1, {});
  site.records.add("next");
  site.nowMs += 16 * MINUTE_MS;
  await site.start().reserve(OWNER, "next but one", 1, {});
  expect(await site.start().usage(OWNER)).toEqual({ images: 3, bytes: 7 });
});

test("an image stored after its quota was released is not released twice", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  const usage = site.start();
  await usage.reserve(OWNER, "kept", 5, {});
  await usage.reserve(OWNER, "late", 5, {});
  site.records.add("kept");
  site.nowMs += 16 * MINUTE_MS;
  await usage.reserve(OWNER, "next", 5, {});
  site.records.add("late");
  await usage.release(OWNER, "late", 5);
  expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 10 });
});

test("a release whose record was not updated still counts as released, even after 48 minutes", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  const usage = site.start();
  await usage.reserve(OWNER, "kept", 5, {});
  await usage.reserve(OWNER, "released", 5, {});
  for (const id of ["kept", "released"]) site.records.add(id);
  await site.start().release(OWNER, "released", 5);
  for (let round = 0; round < 3; round++) {
    site.nowMs += 16 * MINUTE_MS;
    await site.start().reserve(OWNER, `next-${round}`, 0, {});
    site.records.add(`next-${round}`);
  }
  await site.start().release(OWNER, "released", 5);
  expect(await usage.usage(OWNER)).toEqual({ images: 4, bytes: 5 });
});

test("a record that cannot be read delays no other change, and is checked again later", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  let isDamaged = true;
  const store = createMemoryBlobStore();
  const start = () =>
    site.start(store, async (id) => {
      if (id === "damaged" && isDamaged) throw new ServiceError("store_unavailable", "no answer");
      return false;
    });
  isDamaged = false;
  await start().reserve(OWNER, "damaged", 5, {});
  isDamaged = true;
  site.nowMs += 16 * MINUTE_MS;
  const usage = start();
  await usage.reserve(OWNER, "a", 1, {});
  expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 6 });
  isDamaged = false;
  site.nowMs += 10 * MINUTE_MS;
  await usage.reserve(OWNER, "b", 1, {});
  expect(await usage.usage(OWNER)).toEqual({ images: 3, bytes: 7 });
  site.nowMs += 6 * MINUTE_MS;
  await usage.reserve(OWNER, "c", 1, {});
  expect((await usage.usage(OWNER)).bytes).toBe(2);
});

test("a release whose record cannot be read fails alone and changes nothing", async () => {
  const store = createMemoryBlobStore();
  const usage = createOwnerSite(store).start(store, async (id) => {
    if (id === "damaged") throw new ServiceError("store_unavailable", "no answer");
    return false;
  });
  const results = await Promise.allSettled([
    usage.reserve(OWNER, "a", 1, {}),
    usage.release(OWNER, "damaged", 1),
    usage.reserve(OWNER, "b", 1, {}),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 2 });
});

test("a note that the record contradicts is kept, even if the image was marked as settled", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  const usage = site.start();
  await usage.reserve(OWNER, "never stored", 5, {});
  usage.settle(OWNER, "never stored");
  await usage.reserve(OWNER, "a", 5, {});
  site.nowMs += 16 * MINUTE_MS;
  site.records.add("a");
  await usage.reserve(OWNER, "b", 5, {});
  expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 10 });
});

test("a newer note of another process is kept", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  const [one, other] = [site.start(), site.start()];
  await one.reserve(OWNER, "kept", 5, {});
  await one.reserve(OWNER, "a", 5, {});
  for (const id of ["kept", "a"]) site.records.add(id);
  await other.release(OWNER, "a", 5);
  one.settle(OWNER, "a");
  await one.reserve(OWNER, "b", 5, {});
  await other.release(OWNER, "a", 5);
  expect(await one.usage(OWNER)).toEqual({ images: 2, bytes: 10 });
});
