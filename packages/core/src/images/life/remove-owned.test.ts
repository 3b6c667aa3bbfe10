import { describe, expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createLifeSite,
  entriesOf,
  MINUTE,
  SECOND,
  STORES,
  tracesOf,
} from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";

function ownedSite(store: BlobStore) {
  const site = createLifeSite({
    store,
    authorize: ({ headers }) => ({ owner: String(headers["x-owner"]) }),
  });
  const create = async (owner: string) => {
    site.clock.now += SECOND;
    return created(await site.create({ headers: { "x-owner": owner } })).id;
  };
  return { site, create };
}

/** IDs of an owner's living images. */
async function livingOf({ images }: ReturnType<typeof ownedSite>["site"], owner: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id, state } of images.list({ owner })) if (state !== "deleted") ids.push(id);
  return ids.sort();
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("removeAll() deletes an owner's images with their bytes, and those of no one else", async () => {
    const { site, create } = ownedSite(createStore());
    const anna = [await create("anna"), await create("anna"), await create("anna")];
    const ben = await create("ben");
    expect(await site.images.removeAll({ owner: "anna" })).toEqual({ removed: 3, withheld: 0 });
    for (const id of anna) expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(410);
    expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
    expect((await tracesOf(site.store, anna[0] ?? "")).filter((key) => /original/.test(key))).toEqual([]);
    expect(await livingOf(site, "ben")).toEqual([ben]);
    expect(await site.images.removeAll({ owner: "carla" })).toEqual({ removed: 0, withheld: 0 });
  });

  test("list(), stats() and removeAll() of an owner read no other image's record", async () => {
    const { site, create } = ownedSite(createStore());
    const id = await create("anna");
    await site.store.put("AAAAAAAAAAAAAAAAAAAAAA/record", Buffer.from("{}"));
    expect(await livingOf(site, "anna")).toEqual([id]);
    const { images, bytes, states } = await site.images.stats({ owner: "anna" });
    expect([images, states.ready]).toEqual([1, 1]);
    expect(bytes).toBe((await site.images.usage("anna")).bytes);
    await site.images.removeAll({ owner: "anna" });
    expect(site.errors).toEqual([]);
    expect((await site.images.stats()).states.damaged).toBe(1);
  });

  test("removeAll() keeps withheld images and later uploads, and deletes damaged ones", async () => {
    const { site, create } = ownedSite(createStore());
    const [withheld, damaged] = [await create("anna"), await create("anna")];
    await site.images.withhold(withheld, { reason: "A claim." });
    await site.store.put(`${damaged}/record`, Buffer.from("{"));
    expect(await site.images.removeAll({ owner: "anna" })).toEqual({ removed: 1, withheld: 1 });
    const later = await create("anna");
    for (const minutes of [1, 20]) {
      site.clock.now += minutes * MINUTE;
      await site.images.sweep();
    }
    expect(await livingOf(site, "anna")).toEqual([withheld, later].sort());
    expect(await entriesOf(site.store, "removals")).toEqual([]);
  });

  test("another process continues a deletion that failed, with its sweep", async () => {
    const store = createStore();
    const put = store.put.bind(store);
    let left = Number.POSITIVE_INFINITY;
    store.put = (key, ...rest) => {
      const fails = key.endsWith("/record") && --left < 0;
      return fails ? Promise.reject(new Error("The disk is away")) : put(key, ...rest);
    };
    const { site, create } = ownedSite(store);
    const ids = [await create("anna"), await create("anna"), await create("anna")];
    left = 1;
    await expect(site.images.removeAll({ owner: "anna" })).rejects.toThrow("The disk is away");
    left = Number.POSITIVE_INFINITY;
    expect(await livingOf(site, "anna")).toHaveLength(2);
    const other = anotherProcess(site);
    await other.images.sweep();
    expect(await livingOf(site, "anna")).toEqual([]);
    for (const id of ids) expect((await site.send("GET", `/${id}`)).status).toBe(410);
  });

  test("an upload that was under way is deleted by a sweep within 15 minutes, not one that began later", async () => {
    const { site, create } = ownedSite(createStore());
    await create("anna");
    await site.images.removeAll({ owner: "anna" });
    const called = site.clock.now;
    // Its record is written after the deletion, with the time of its beginning.
    site.clock.now = called - 2 * SECOND;
    await create("anna");
    site.clock.now = called + MINUTE;
    const later = await create("anna");
    await site.images.sweep();
    expect(await livingOf(site, "anna")).toEqual([later]);
  });
});

test.each([[{}], [{ owner: "" }], [{ owner: "x".repeat(257) }]])(
  "removeAll() rejects %j",
  async (options) => {
    const { site } = ownedSite(STORES.memory());
    await expect(site.images.removeAll(options as never)).rejects.toThrow(/owner (?:must be|is required)/);
  },
);
