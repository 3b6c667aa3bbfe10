import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, type ImageSite } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, STORES } from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { hashOfName, NameIndex } from "../../stores/name-index.ts";
import { OWNED_INDEX } from "./owned-images.ts";

const HASH = hashOfName("anna");

function ownedSite(store: BlobStore): ImageSite {
  return createLifeSite({ store, authorize: () => ({ owner: "anna" }), ownerLimits: { images: 3 } });
}

async function idsOwned(store: BlobStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of new NameIndex(store, OWNED_INDEX).list(HASH)) ids.push(id);
  return ids.sort();
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("the index lists the images of an owner until their bytes are removed", async () => {
    const site = ownedSite(createStore());
    const ids = [created(await site.create()).id, created(await site.create()).id];
    expect(await idsOwned(site.store)).toEqual([...ids].sort());
    await site.images.remove(ids[0] ?? "");
    expect(await idsOwned(site.store)).toEqual([ids[1]]);
    site.clock.now += DAY;
    await site.images.sweep();
    expect(await idsOwned(site.store)).toEqual([]);
  });

  test("a copy that lacks the usage counts the images that the index lists", async () => {
    const site = ownedSite(createStore());
    await site.create();
    await site.create();
    await site.store.delete(`usage/${HASH}`);
    const other = anotherProcess(site);
    expect((await other.create()).status).toBe(201);
    expect((await other.create()).status).toBe(403);
    expect(await other.images.usage("anna")).toEqual({ images: 3, bytes: 3 * PNG.length });
    expect(other.errors).toEqual([]);
  });
});

test("a refused or failed upload leaves no entry", async () => {
  const site = ownedSite(createMemoryBlobStore());
  for (let round = 0; round < 3; round++) await site.create();
  expect((await site.create()).status).toBe(403);
  expect((await idsOwned(site.store)).length).toBe(3);
});
