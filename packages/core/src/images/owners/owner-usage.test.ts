import { expect, test } from "vitest";
import { createOwnerSite } from "../../../test/owner-site.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const OWNER = "team a/é 🛶";

test("repeated reservations of an image count once, even long after it is stored", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  const usage = site.start();
  await Promise.all([usage.reserve(OWNER, "a", 5, {}), usage.reserve(OWNER, "a", 5, {})]);
  await site.start().reserve(OWNER, "a", 5, { images: 1 });
  site.records.add("a");
  usage.settle(OWNER, "a");
  await usage.reserve(OWNER, "b", 1, {});
  await site.start().reserve(OWNER, "a", 5, {});
  expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 6 });
});

test("repeated releases of an image count once: concurrent, by another process, or after its record changed", async () => {
  const site = createOwnerSite(createMemoryBlobStore());
  const [one, other] = [site.start(), site.start()];
  for (const id of ["a", "b"]) {
    await one.reserve(OWNER, id, 5, {});
    site.records.add(id);
    one.settle(OWNER, id);
  }
  await Promise.all([one, other, one, other].map((usage) => usage.release(OWNER, "a", 5)));
  expect(await one.usage(OWNER)).toEqual({ images: 1, bytes: 5 });
  site.records.delete("a");
  one.settle(OWNER, "a");
  other.settle(OWNER, "a");
  await one.reserve(OWNER, "c", 1, {});
  await other.reserve(OWNER, "d", 1, {});
  for (const usage of [one, other]) await usage.release(OWNER, "a", 5);
  expect(await one.usage(OWNER)).toEqual({ images: 3, bytes: 7 });
});

test("reserve() rejects a name that is no owner", async () => {
  for (const [name, owner] of [
    ["an empty string", ""],
    ["a string of 257 characters", "x".repeat(257)],
    ["a lone surrogate", "\ud800"],
    ["a number", 7 as unknown as string],
  ] as const) {
    const usage = createOwnerSite(createMemoryBlobStore()).start();
    await expect(usage.reserve(owner, "a", 1, {}), name).rejects.toMatchObject({ code: "host_misuse" });
  }
});

test("reserve() and release() reject an amount that is not a whole number from 0", async () => {
  for (const amount of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY]) {
    const usage = createOwnerSite(createMemoryBlobStore()).start();
    for (const work of [
      usage.reserve(OWNER, "a", amount, {}),
      usage.reserve(OWNER, "a", 1, { images: amount }),
      usage.reserve(OWNER, "a", 1, { bytes: amount }),
      usage.release(OWNER, "a", amount),
    ])
      await expect(work, String(amount)).rejects.toMatchObject({ code: "host_misuse" });
  }
});
