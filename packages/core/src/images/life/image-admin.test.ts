import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { created, eventually, type ImageSite } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createLifeSite,
  DAY,
  entriesOf,
  HOUR,
  STORES,
  tracesOf,
} from "../../../test/life-site.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageAdmin, type ImageAdmin } from "./image-admin.ts";
import type { ListedImage } from "./image-listing.ts";

async function listed(admin: ImageAdmin): Promise<Map<string, ListedImage>> {
  const found = new Map<string, ListedImage>();
  for await (const image of admin.list()) found.set(image.id, image);
  return found;
}

/** The administration of a site's storage by a command that serves nothing. */
function commandOf({ store, clock }: ImageSite) {
  return createImageAdmin({ storage: { ...store, close: async () => {} }, now: () => clock.now });
}

/** One image in each state, by state. */
async function createAllStates(site: ImageSite): Promise<Record<string, string>> {
  const create = async (search = "") => created(await site.create({ search })).id;
  const expired = await create("expiresAt=2026-03-01T12:30:00.000Z");
  const noticed = await create("expiresAt=2026-03-01T12:30:00.000Z");
  const removed = await create();
  const deleteAfter = new Date(site.clock.now + HOUR);
  await site.images.withhold(removed, { reason: "By order of the court.", deleteAfter });
  site.clock.now += HOUR;
  await site.send("GET", `/${noticed}`);
  const withheld = await create();
  await site.images.withhold(withheld, { reason: "A copyright claim." });
  const deleted = await create();
  await site.images.remove(deleted);
  const ready = await create();
  const { renderer } = site;
  renderer.answer = null;
  const later = { headers: { prefer: "respond-async" } };
  const failed = created(await site.create(later)).id;
  const processing = created(await site.create(later)).id;
  (await renderer.next()).refuse(new ServiceError("unsupported_media", "Its pixels end early."));
  const path = `/api/images/${failed}.json`;
  await eventually(async () => expect((await site.send("GET", path)).status).toBe(404));
  return { expired, noticed, removed, withheld, deleted, ready, failed, processing };
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("list() returns every image with its state, and stats() counts them", async () => {
    const site = createLifeSite({ store: createStore(), authorize: () => ({ owner: "anna" }) });
    const ids = await createAllStates(site);
    for (const admin of [site.images, commandOf(anotherProcess(site))]) {
      const images = await listed(admin);
      const states = Object.entries(ids).map(([name, id]) => [name, images.get(id)?.state]);
      expect(Object.fromEntries(states)).toEqual({
        ...{ expired: "expired", noticed: "expired", removed: "removed", withheld: "withheld" },
        ...{ deleted: "deleted", ready: "ready", failed: "failed", processing: "processing" },
      });
      expect(images.size).toBe(8);
      expect(images.get(ids.ready ?? "")).toEqual({
        id: ids.ready,
        sha256: "0561c1785736df11142838b44793cf3a48f01c255eca7e13185a917c987be289",
        ...{ name: "picture.png", description: null, type: "image/png", size: 34 },
        ...{ owner: "anna", state: "ready" },
        ...{ createdAt: site.clock.now, expiresAt: site.clock.now + DAY },
      });
      expect(images.get(ids.withheld ?? "")?.reason).toBe("A copyright claim.");
      expect(await admin.stats()).toMatchObject({
        images: 8,
        bytes: 3 * 34,
        states: {
          ...{ processing: 1, ready: 1, withheld: 1, failed: 1, deleted: 1, expired: 2, removed: 1 },
          damaged: 0,
        },
        newer: 0,
      });
    }
  });

  test("list() returns all images of several pages of a store's listing", async () => {
    const kept = createStore();
    const paged = {
      ...kept,
      list: (prefix: string, options = {}) => kept.list(prefix, { ...options, limit: 3 }),
    };
    const site = createLifeSite({ store: paged });
    for (let count = 0; count < 10; count++) await site.create();
    expect((await listed(site.images)).size).toBe(10);
  });
});

test("remove() by a command releases the owner's quota, and sweep() removes the rest", async () => {
  const site = createLifeSite({ authorize: () => ({ owner: "anna" }), tombstoneDays: 1 });
  const { id } = created(await site.create());
  await site.create();
  const admin = commandOf(site);
  expect(await admin.usage("anna")).toEqual({ images: 2, bytes: 68 });
  await admin.remove(id);
  expect((await site.send("GET", `/${id}`)).status).toBe(410);
  expect((await tracesOf(site.store, id)).filter((key) => key !== "entry")).toEqual([`${id}/record`]);
  expect(await admin.usage("anna")).toEqual({ images: 1, bytes: 34 });
  expect(await admin.usage("unknown")).toEqual({ images: 0, bytes: 0 });
  site.clock.now += DAY;
  expect(await admin.sweep()).toMatchObject({ failed: 0 });
  expect(await admin.usage("anna")).toEqual({ images: 0, bytes: 0 });
});

test("remove() of an image that is still processed leaves no trace of it", async () => {
  const renderer = createFakeRenderer();
  const site = createLifeSite({ renderer, tombstoneDays: 0 });
  const { id } = created(await site.create({ headers: { prefer: "respond-async" } }));
  const admitting = await renderer.next();
  await commandOf(site).remove(id);
  expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(404);
  admitting.accept();
  await eventually(async () => expect(await entriesOf(site.store, "jobs")).toEqual([]));
  await site.images.sweep();
  expect((await tracesOf(site.store, id)).filter((key) => key !== "entry")).toEqual([]);
});

test("createImageAdmin throws a TypeError for options out of range", () => {
  const storage = createMemoryBlobStore();
  expect(() => createImageAdmin({ storage, tombstoneDays: -1 })).toThrow(TypeError);
  expect(() => createImageAdmin({ storage, tombstoneDays: 3651 })).toThrow(TypeError);
});

test("closing the administration closes the stores", async () => {
  const storage = createMemoryBlobStore();
  const admin = createImageAdmin({ storage });
  await admin.close();
  await expect(storage.list("")).rejects.toMatchObject({ code: "store_unavailable" });
});
