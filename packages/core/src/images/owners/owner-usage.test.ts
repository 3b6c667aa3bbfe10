import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { createFsBlobStore } from "../../stores/fs-blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory-blob-store.ts";
import { createOwnerUsage, type OwnerUsage } from "./owner-usage.ts";

const MINUTE_MS = 60_000;
const OWNER = "team a/é 🛶";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-owners-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const STORES: Record<string, () => Promise<BlobStore>> = {
  memory: async () => createMemoryBlobStore(),
  "file system": async () => createFsBlobStore({ directory: await mkdtemp(join(root, "store-")) }),
};

/** A store with a clock and with records, and any number of processes on it. */
function createSite(store: BlobStore, epochChanges?: number) {
  const records = new Set<string>();
  const site = {
    records,
    nowMs: 1_700_000_000_000,
    asked: [] as string[],
    start: (on = store): OwnerUsage =>
      createOwnerUsage({
        store: on,
        now: () => site.nowMs,
        async isOwned(_owner, id) {
          site.asked.push(id);
          await turn();
          return records.has(id);
        },
        ...(epochChanges === undefined ? {} : { epochChanges }),
      }),
  };
  return site;
}

/** Ways that the conditions of writes are lost on: what must not go unnoticed. */
function forgetfulStore(store: BlobStore): BlobStore {
  return { ...store, put: (key, body) => store.put(key, body) };
}

/** How many of `wanted` reservations at once, spread over several processes, are granted. */
async function countGranted(usages: readonly OwnerUsage[], wanted: number, images: number): Promise<number> {
  const results = await Promise.allSettled(
    Array.from({ length: wanted }, async (_, index) => {
      for (let pause = index % 7; pause > 0; pause--) await turn();
      await usages[index % usages.length]?.reserve(OWNER, `image-${index}`, 10, { images });
    }),
  );
  for (const result of results)
    if (result.status === "rejected" && !isServiceError(result.reason, "forbidden")) throw result.reason;
  return results.filter(({ status }) => status === "fulfilled").length;
}

describe.each(Object.entries(STORES))("on a store of kind %s", (_kind, createStore) => {
  test("of many reservations at once exactly as many are granted as there is room for", async () => {
    const store = await createStore();
    const usage = createSite(store).start();
    expect(await countGranted([usage], 1000, 300)).toBe(300);
    expect(await usage.usage(OWNER)).toEqual({ images: 300, bytes: 3000 });
  });

  test("the same holds where three count on one store, and change epochs all the time", async () => {
    const store = await createStore();
    const site = createSite(store, 3);
    const usages = [site.start(), site.start(), site.start()];
    expect(await countGranted(usages, 300, 100)).toBe(100);
    for (const usage of usages) expect(await usage.usage(OWNER)).toEqual({ images: 100, bytes: 1000 });
  });

  test("that check finds a count which does not compare before it sets", async () => {
    const store = await createStore();
    const site = createSite(forgetfulStore(store));
    expect(await countGranted([site.start(), site.start(), site.start()], 300, 100)).toBeGreaterThan(100);
  });

  test("bytes are limited as images are, and the last byte may be used", async () => {
    const usage = createSite(await createStore()).start();
    await usage.reserve(OWNER, "a", 60, { bytes: 100 });
    await expect(usage.reserve(OWNER, "b", 41, { bytes: 100 })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringMatching(/100 bytes.*40 are left.*41/),
    });
    await usage.reserve(OWNER, "c", 40, { images: 2, bytes: 100 });
    await expect(usage.reserve(OWNER, "d", 0, { images: 2, bytes: 100 })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("more than 2 images"),
    });
    expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 100 });
  });

  test("owners do not share", async () => {
    const usage = createSite(await createStore()).start();
    await usage.reserve(OWNER, "a", 5, { images: 1 });
    await usage.reserve(`${OWNER} `, "b", 7, { images: 1 });
    expect(await usage.usage(`${OWNER} `)).toEqual({ images: 1, bytes: 7 });
    expect(await usage.usage("nobody")).toEqual({ images: 0, bytes: 0 });
  });

  test("reserving again is reserving once, also when the image is long stored", async () => {
    const site = createSite(await createStore());
    const usage = site.start();
    await Promise.all([usage.reserve(OWNER, "a", 5, {}), usage.reserve(OWNER, "a", 5, {})]);
    await site.start().reserve(OWNER, "a", 5, { images: 1 });
    site.records.add("a");
    usage.settle(OWNER, "a");
    await usage.reserve(OWNER, "b", 1, {});
    await site.start().reserve(OWNER, "a", 5, {});
    expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 6 });
  });

  test("releasing again is releasing once: at once, by another process, after the record has followed", async () => {
    const site = createSite(await createStore());
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

  test("what is given back is what was reserved, and can be reserved again", async () => {
    const usage = createSite(await createStore()).start();
    await usage.reserve(OWNER, "a", 50, { bytes: 50 });
    await usage.release(OWNER, "a", 7);
    expect(await usage.usage(OWNER)).toEqual({ images: 0, bytes: 0 });
    await usage.reserve(OWNER, "a", 50, { bytes: 50 });
    expect(await usage.usage(OWNER)).toEqual({ images: 1, bytes: 50 });
  });
});

describe("what a crash leaves", () => {
  test("room of an image that was never stored is given back after a quarter of an hour", async () => {
    const site = createSite(createMemoryBlobStore());
    await site.start().reserve(OWNER, "lost", 5, { images: 1 });
    const usage = site.start();
    site.nowMs += 15 * MINUTE_MS;
    await expect(usage.reserve(OWNER, "next", 1, { images: 1 })).rejects.toThrow(/1 images/);
    site.nowMs += 1;
    await usage.reserve(OWNER, "next", 1, { images: 1 });
    expect(await usage.usage(OWNER)).toEqual({ images: 1, bytes: 1 });
  });

  test("an image that was stored keeps its room", async () => {
    const site = createSite(createMemoryBlobStore());
    await site.start().reserve(OWNER, "stored", 5, {});
    site.records.add("stored");
    site.nowMs += 16 * MINUTE_MS;
    await site.start().reserve(OWNER, "next", 1, {});
    site.records.add("next");
    site.nowMs += 16 * MINUTE_MS;
    await site.start().reserve(OWNER, "next but one", 1, {});
    expect(await site.start().usage(OWNER)).toEqual({ images: 3, bytes: 7 });
  });

  test("an image that is stored when nobody expected it any more is not given back twice", async () => {
    const site = createSite(createMemoryBlobStore());
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

  test("a release whose record has not followed stays one, however long that takes", async () => {
    const site = createSite(createMemoryBlobStore());
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

  test("a record that cannot be read hinders nobody, and is asked about again", async () => {
    const site = createSite(createMemoryBlobStore());
    let isDamaged = true;
    const store = createMemoryBlobStore();
    const start = () =>
      createOwnerUsage({
        store,
        now: () => site.nowMs,
        isOwned: async (_owner, id) => {
          if (id === "damaged" && isDamaged) throw new ServiceError("store_unavailable", "no answer");
          return false;
        },
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

  test("a release that cannot ask the record fails alone and changes nothing", async () => {
    const store = createMemoryBlobStore();
    const usage = createOwnerUsage({
      store,
      now: () => 0,
      isOwned: async (_owner, id) => {
        if (id === "damaged") throw new ServiceError("store_unavailable", "no answer");
        return false;
      },
    });
    const results = await Promise.allSettled([
      usage.reserve(OWNER, "a", 1, {}),
      usage.release(OWNER, "damaged", 1),
      usage.reserve(OWNER, "b", 1, {}),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 2 });
  });
});

describe("the tally", () => {
  test("holds no note about what is settled", async () => {
    const store = createMemoryBlobStore();
    const site = createSite(store);
    const usage = site.start();
    for (let round = 0; round < 200; round++) {
      const id = `image-${round}`;
      await usage.reserve(OWNER, id, 10, {});
      site.records.add(id);
      usage.settle(OWNER, id);
    }
    const [key = ""] = (await store.list("owners/")).keys;
    expect((await store.stat(key))?.size).toBeLessThan(300);
    site.nowMs += 16 * MINUTE_MS;
    site.asked.length = 0;
    await usage.reserve(OWNER, "last", 10, {});
    expect(site.asked.sort()).toEqual(["image-199", "last"]);
  });

  test("keeps a note that the record does not bear out, whatever was said", async () => {
    const site = createSite(createMemoryBlobStore());
    const usage = site.start();
    await usage.reserve(OWNER, "never stored", 5, {});
    usage.settle(OWNER, "never stored");
    await usage.reserve(OWNER, "a", 5, {});
    site.nowMs += 16 * MINUTE_MS;
    site.records.add("a");
    await usage.reserve(OWNER, "b", 5, {});
    expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 10 });
  });

  test("keeps a note that somebody else has made since", async () => {
    const site = createSite(createMemoryBlobStore());
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

  test("leaves no more behind on a disk than two epochs", async () => {
    const directory = await mkdtemp(join(root, "epochs-"));
    const store = createFsBlobStore({ directory });
    const site = createSite(store, 10);
    const usage = site.start();
    for (let round = 0; round < 95; round++) await usage.reserve(OWNER, `image-${round}`, 1, {});
    const { keys } = await store.list("owners/");
    expect(keys.map((key) => key.replace(/^owners\/[0-9a-f]{64}\//, ""))).toEqual(["10", "9"]);
    const files = await readdir(join(directory, "blobs"), { recursive: true, withFileTypes: true });
    expect(files.filter((file) => !file.isDirectory()).length).toBeLessThanOrEqual(2 * (10 + 1));
    expect(await usage.usage(OWNER)).toEqual({ images: 95, bytes: 95 });
  });

  test("is not lost on who slept while others went two epochs further", async () => {
    const store = createMemoryBlobStore();
    const site = createSite(store, 5);
    const awake = site.start();
    for (let round = 0; round < 5; round++) await awake.reserve(OWNER, `image-${round}`, 1, {});
    // Falls asleep with the sealed first epoch in its hands, before it creates the second.
    let wake: (() => void) | undefined;
    const slept = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let isAsleep = false;
    const sleeper = site.start({
      ...store,
      async put(key, body, options) {
        if (!isAsleep) {
          isAsleep = true;
          await slept;
        }
        return store.put(key, body, options);
      },
    });
    const reserved = sleeper.reserve(OWNER, "late", 1, { images: 30 });
    await expect.poll(() => isAsleep).toBe(true);
    for (let round = 5; round < 29; round++) await awake.reserve(OWNER, `image-${round}`, 1, {});
    expect((await store.list("owners/")).keys.map((key) => key.split("/")[2])).toEqual(["5", "6"]);
    wake?.();
    await reserved;
    expect((await store.list("owners/")).keys.map((key) => key.split("/")[2])).toEqual(["5", "6"]);
    expect(await awake.usage(OWNER)).toEqual({ images: 30, bytes: 30 });
    await expect(awake.reserve(OWNER, "more", 1, { images: 30 })).rejects.toThrow(/30 images/);
  });

  test("that others change without end is given up on with the time to wait", async () => {
    const store = createMemoryBlobStore();
    const site = createSite({
      ...store,
      put: () => Promise.reject(new ServiceError("conflict", "The blob was changed by somebody else.")),
    });
    await expect(site.start().reserve(OWNER, "a", 1, {})).rejects.toMatchObject({
      code: "overloaded",
      retryAfterMs: expect.any(Number),
    });
  });

  test("of a store in trouble rejects with its error, and goes on when it is over", async () => {
    const store = createMemoryBlobStore();
    let isBroken = false;
    const site = createSite({
      ...store,
      put: async (...args) => {
        if (isBroken) throw new ServiceError("store_unavailable", "no answer");
        return store.put(...args);
      },
    });
    const usage = site.start();
    await usage.reserve(OWNER, "a", 1, {});
    isBroken = true;
    await expect(usage.reserve(OWNER, "b", 1, {})).rejects.toMatchObject({ code: "store_unavailable" });
    isBroken = false;
    await usage.reserve(OWNER, "b", 1, {});
    expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 2 });
  });
});

test.each([
  ["no text", ""],
  ["a text of 257 characters", "x".repeat(257)],
  ["half a surrogate pair", "\ud800"],
  ["a number", 7 as unknown as string],
])("%s is no owner", async (_name, owner) => {
  const usage = createSite(createMemoryBlobStore()).start();
  await expect(usage.reserve(owner, "a", 1, {})).rejects.toMatchObject({ code: "host_misuse" });
});

test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])("%d is no amount", async (amount) => {
  const usage = createSite(createMemoryBlobStore()).start();
  for (const work of [
    usage.reserve(OWNER, "a", amount, {}),
    usage.reserve(OWNER, "a", 1, { images: amount }),
    usage.reserve(OWNER, "a", 1, { bytes: amount }),
    usage.release(OWNER, "a", amount),
  ])
    await expect(work).rejects.toMatchObject({ code: "host_misuse" });
});
