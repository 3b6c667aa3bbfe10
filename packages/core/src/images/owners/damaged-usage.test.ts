import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, type ImageSite, keysOf } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, MINUTE, STORES } from "../../../test/life-site.ts";
import { signal, tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const SIZE = PNG.length;

function ownedSite(store: BlobStore, now = { owner: "anna" }): ImageSite {
  return createLifeSite({ store, authorize: () => ({ owner: now.owner }), ownerLimits: { images: 5 } });
}

/** Uploads like a client that obeys Retry-After: on a busy machine even a short count may take too long. */
async function upload(site: ImageSite): Promise<number> {
  for (;;) {
    const { status } = await site.create();
    if (status !== 503) return status;
  }
}

/** Repeats work that needs the owner's usage until the usage is counted. */
async function whenCounted<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isServiceError(error, "overloaded")) throw error;
    }
  }
}

async function damageUsages(store: BlobStore, bytes: Buffer): Promise<string[]> {
  const keys = (await keysOf(store)).filter((key) => key.startsWith("usage/"));
  for (const key of keys) await store.put(key, bytes);
  return keys;
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test.each([
    ["empty", Buffer.alloc(0)],
    ["cut", Buffer.from('{"images":3,"bytes"')],
    ["nonsense", Buffer.from("\u0000")],
    ["of the wrong shape", Buffer.from('{"images":-1,"bytes":0,"turn":1,"isSealed":false,"open":{}}')],
  ])(
    "the next upload recounts a usage that is %s, with the same result on all processes",
    async (_case, bytes) => {
      const site = ownedSite(createStore());
      const ids = [
        created(await site.create()).id,
        created(await site.create()).id,
        created(await site.create()).id,
      ];
      await site.images.remove(ids[0] ?? "");
      const [key = ""] = await damageUsages(site.store, bytes);
      const processes = [anotherProcess(site), anotherProcess(site), anotherProcess(site)];
      const statuses = await Promise.all([...processes, ...processes].map(upload));
      // Two images exist, and five are allowed.
      expect(statuses.sort()).toEqual([201, 201, 201, 403, 403, 403]);
      for (const each of processes)
        expect(await each.images.usage("anna")).toEqual({ images: 5, bytes: 5 * SIZE });
      const errors = processes.flatMap((each) => each.errors);
      expect(errors.length).toBeGreaterThan(0);
      for (const error of errors)
        expect(isServiceError(error, "damaged") && error.message.includes(key)).toBe(true);
      await processes[0]?.images.remove(ids[1] ?? "");
      expect(await site.images.usage("anna")).toEqual({ images: 4, bytes: 4 * SIZE });
    },
  );

  test("a deletion releases quota even if the usage is damaged", async () => {
    const site = ownedSite(createStore());
    const { id, pin } = created(await site.create());
    await site.create();
    await damageUsages(site.store, Buffer.alloc(0));
    const other = anotherProcess(site);
    const path = `/api/images/${id}.json`;
    expect((await other.send("DELETE", path, { search: `pin=${pin}` })).status).toBe(204);
    await other.images.sweep();
    expect(await site.images.usage("anna")).toEqual({ images: 1, bytes: SIZE });
  });

  test("a recount excludes ended images and damaged records", async () => {
    const site = ownedSite(createStore());
    await site.create();
    const ended = created(await site.create()).id;
    const broken = created(await site.create()).id;
    await site.store.put(`${broken}/record`, Buffer.from("{"));
    await damageUsages(site.store, Buffer.alloc(0));
    const other = anotherProcess(site);
    const counted = await whenCounted(() => other.images.usage("anna"));
    expect(counted).toEqual({ images: 2, bytes: 2 * SIZE });
    await other.images.remove(ended);
    site.clock.now += 16 * MINUTE;
    await other.create();
    expect(await other.images.usage("anna")).toEqual({ images: 2, bytes: 2 * SIZE });
    site.clock.now += DAY;
    await other.images.sweep();
    expect(await other.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
  });
});

test("during a long recount the owner's uploads answer 503 with Retry-After, and all others are served", async () => {
  const kept = createMemoryBlobStore();
  const counting = signal();
  const now = { owner: "anna" };
  let isSlow = false;
  const store = tapStore(kept, async ({ method, key }) => {
    if (isSlow && method === "list" && key === "") await counting.promise;
  });
  const site = ownedSite(store, now);
  await site.create();
  await site.create();
  await damageUsages(kept, Buffer.alloc(0));
  const other = anotherProcess(site);
  isSlow = true;
  const refused = await other.create();
  expect([refused.status, refused.headers["Retry-After"]]).toEqual([503, "5"]);
  now.owner = "carla";
  expect((await other.create()).status).toBe(201);
  now.owner = "anna";
  counting.give();
  await expect.poll(async () => (await other.create()).status).toBe(201);
  expect((await other.images.usage("anna")).images).toBeGreaterThan(2);
});

test("a process with the usage in memory and one that recounts it agree", async () => {
  const site = ownedSite(createMemoryBlobStore());
  await site.create();
  await site.create();
  await damageUsages(site.store, Buffer.alloc(0));
  const other = anotherProcess(site);
  const statuses = await Promise.all([site, other, site, other].map(upload));
  expect(statuses.sort()).toEqual([201, 201, 201, 403]);
  expect(await site.images.usage("anna")).toEqual({ images: 5, bytes: 5 * SIZE });
});
