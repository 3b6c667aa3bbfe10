import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import type { ImageSite } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, STORES } from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { hashOfName } from "../../stores/name-index.ts";

const HASH = hashOfName("anna");

function ownedSite(store: BlobStore): ImageSite {
  return createLifeSite({ store, authorize: () => ({ owner: "anna" }), ownerLimits: { images: 3 } });
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
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
