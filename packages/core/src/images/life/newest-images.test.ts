import { describe, expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, STORES } from "../../../test/life-site.ts";
import { signal } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { ImageAdmin } from "./image-admin.ts";

type Filter = Parameters<ImageAdmin["newest"]>[0];

/** The IDs of all pages. */
async function pagesOf(admin: ImageAdmin, filter: Filter): Promise<string[][]> {
  const pages: string[][] = [];
  let before: number | undefined;
  do {
    const { images, next } = await admin.newest({ ...filter, before });
    pages.push(images.map(({ id }) => id));
    before = next ?? undefined;
  } while (before !== undefined);
  return pages;
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("newest() pages through living images, newest first, and keeps those of one millisecond together", async () => {
    const site = createLifeSite({ store: createStore() });
    const ids: string[] = [];
    for (let number = 0; number < 7; number++) {
      // Images 1 to 4 have one time.
      if (number < 2 || number > 4) site.clock.now += 1000;
      ids.push(created(await site.create()).id);
    }
    await site.images.remove(ids[5] ?? "");
    const newest = [ids[6], ...ids.slice(1, 5).sort(), ids[0]];
    expect((await pagesOf(site.images, {})).flat()).toEqual(newest);
    expect(await pagesOf(anotherProcess(site).images, { limit: 2 })).toEqual([
      newest.slice(0, 5),
      newest.slice(5),
    ]);
  });

  test("newest() finds withheld images and those of an owner by an index, without reading other records", async () => {
    const site = createLifeSite({
      store: createStore(),
      authorize: ({ headers }) => ({ owner: String(headers["x-owner"]) }),
    });
    const create = async (owner: string) => {
      site.clock.now += 1000;
      return created(await site.create({ headers: { "x-owner": owner } })).id;
    };
    const [a1, b1, a2, a3] = [
      await create("anna"),
      await create("ben"),
      await create("anna"),
      await create("anna"),
    ];
    for (const id of [a1, b1, a2]) await site.images.withhold(id, { reason: "A claim." });
    await site.images.release(a2);
    const other = anotherProcess(site);
    // Unreadable, and no entry of an index names it.
    await site.store.put("AAAAAAAAAAAAAAAAAAAAAA/record", Buffer.from("{}"));
    expect((await pagesOf(other.images, { state: "withheld" })).flat()).toEqual([b1, a1]);
    expect((await pagesOf(other.images, { owner: "anna" })).flat()).toEqual([a3, a2, a1]);
    expect((await pagesOf(other.images, { owner: "anna", state: "withheld" })).flat()).toEqual([a1]);
    expect(await other.images.newest({ state: "withheld" })).toMatchObject({
      reading: null,
      images: [{ reason: "A claim." }, {}],
    });
    expect(other.errors).toEqual([]);
    await site.images.remove(b1);
    expect((await pagesOf(other.images, { state: "withheld" })).flat()).toEqual([a1]);
    expect((await site.store.list("marked/")).keys).toHaveLength(2);
  });

  test("newest() lists held images until they are accepted or refused, also while they are withheld", async () => {
    const site = createLifeSite({ store: createStore(), inspect: () => "hold" });
    const create = async () => {
      site.clock.now += 1000;
      return created(await site.create()).id;
    };
    const ids = [await create(), await create(), await create()] as const;
    const held = async () => (await pagesOf(anotherProcess(site).images, { state: "held" })).flat();
    expect(await held()).toEqual(ids.toReversed());
    await site.images.withhold(ids[1], { reason: "A claim." });
    expect(await held()).toEqual([ids[2], ids[0]]);
    await site.images.release(ids[1]);
    await site.images.accept(ids[0], { by: "anna" });
    await site.images.refuse(ids[2], "Not here.", { by: "ben" });
    expect(await held()).toEqual([ids[1]]);
    await site.images.accept(ids[1]);
  });
});

test("newest() returns what was found within two seconds while a slow store is read, and all of it later", async () => {
  const site = createLifeSite();
  const ids = [created(await site.create()).id, created(await site.create()).id];
  const { get } = site.store;
  const held = signal();
  site.store.get = async (key, ...others) => {
    if (key === `${ids[0]}/record`) await held.promise;
    return get.call(site.store, key, ...others);
  };
  const slow = site.another();
  const partial = await slow.images.newest();
  expect(partial.images.map(({ id }) => id)).toEqual([ids[1]]);
  expect(partial.reading).toMatchObject({ records: 1, isUnderWay: true });
  held.give();
  expect((await slow.images.newest()).images).toHaveLength(2);
});

test("newest() of IDs returns these images in any state, and rejects a malformed one", async () => {
  const site = createLifeSite();
  const [one, two] = [created(await site.create()).id, created(await site.create()).id];
  await site.images.remove(one);
  const { images } = await site.images.newest({ ids: [one, two, two, "AAAAAAAAAAAAAAAAAAAAAA"] });
  expect(images.map(({ id, state }) => [id, state]).sort()).toEqual(
    [
      [one, "deleted"],
      [two, "ready"],
    ].sort(),
  );
  await expect(site.images.newest({ ids: ["../x"] })).rejects.toThrow(TypeError);
});

test("newest() rejects while the store fails, and works again after it", async () => {
  const { list, ...others } = createMemoryBlobStore();
  let isFailing = false;
  const store: BlobStore = {
    ...others,
    async list(...given) {
      if (isFailing) throw new Error("no answer");
      return list(...given);
    },
  };
  const site = createLifeSite({ store });
  const { id } = created(await site.create());
  isFailing = true;
  await expect(site.images.newest()).rejects.toThrow("no answer");
  isFailing = false;
  expect((await site.images.newest()).images).toMatchObject([{ id }]);
});
