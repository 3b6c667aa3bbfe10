import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, created, type ImageSite, storedRecord } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createLifeSite,
  DAY,
  entriesOf,
  readsOf,
  STORES,
  statusesOf,
} from "../../../test/life-site.ts";
import { isServiceError } from "../../errors.ts";
import { remainsOf } from "./damaged-image.ts";

/** Kinds of damage to a record. */
const DAMAGES: Record<string, (record: Buffer) => Buffer> = {
  empty: () => Buffer.alloc(0),
  cut: (record) => record.subarray(0, 120),
  nonsense: () => Buffer.from("\u0000\u0001\u0002"),
  "a text for a date": (record) =>
    Buffer.from(record.toString().replace(/"expiresAt":\d+/, '"expiresAt":"never"')),
  "an unknown end": (record) =>
    Buffer.from(record.toString().replace('"gone":null', '"gone":{"at":1,"why":"moved"}')),
  "another image's": (record) => Buffer.from(record.toString().replace(/"id":"./, '"id":"!')),
};

async function damage(site: ImageSite, id: string, how: keyof typeof DAMAGES = "cut"): Promise<void> {
  const record = (await bytesAt(site.store, `${id}/record`)) ?? Buffer.alloc(0);
  await site.store.put(`${id}/record`, DAMAGES[how]?.(record) ?? record);
}

async function damagedImage(site: ImageSite, how: keyof typeof DAMAGES = "cut") {
  const image = created(await site.create());
  await damage(site, image.id, how);
  return image;
}

function namesOf(errors: readonly unknown[], id: string): boolean[] {
  return errors.map((error) => isServiceError(error, "damaged") && error.message.includes(`${id}/record`));
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test.each(Object.keys(DAMAGES))(
    "every read of an image whose record is %s answers 500, logged once with its ID",
    async (how) => {
      const site = createLifeSite({ store: createStore() });
      const { id } = await damagedImage(site, how);
      const reads = readsOf(id);
      expect(await statusesOf(site, reads)).toEqual([500]);
      expect(namesOf(site.errors, id)).toEqual(reads.map(() => true));
      const { text } = await site.send("GET", `/api/images/${id}.json`);
      expect(text).toContain("The stored data of this image is damaged.");
      expect(text).not.toContain("JSON");
    },
  );

  test("remove() ends an image whose record is damaged: it answers 410, and its bytes are removed", async () => {
    const site = createLifeSite({ store: createStore(), tombstoneDays: 1 });
    const { id } = await damagedImage(site);
    await anotherProcess(site).images.remove(id);
    expect(await statusesOf(site, readsOf(id))).toEqual([410]);
    expect(await site.store.stat(`${id}/original`)).toBeNull();
    await expect(site.images.remove(id)).rejects.toMatchObject({ code: "gone" });
    site.clock.now += DAY;
    await site.images.sweep();
    expect(await storedRecord(site.store, id)).toBeNull();
  });

  test("withhold() makes a damaged image answer 451 until it expires, and release() makes it answer 500 again", async () => {
    const site = createLifeSite({ store: createStore(), tombstoneDays: 1, maxLifetimeMs: 400 * DAY });
    const { id } = await damagedImage(site);
    const another = anotherProcess(site);
    await another.images.withhold(id, { reason: "Case 4711" });
    expect(await statusesOf(site, readsOf(id))).toEqual([451]);
    await site.images.release(id);
    expect(await statusesOf(site, readsOf(id))).toEqual([500]);
    await expect(site.images.release(id)).rejects.toMatchObject({ code: "damaged" });
    await site.images.withhold(id, { reason: "Case 4711 again" });
    site.clock.now += 399 * DAY;
    expect(await site.images.sweep()).toMatchObject({ failed: 0 });
    expect(await statusesOf(another, readsOf(id))).toEqual([451]);
    expect(await site.store.stat(`${id}/original`)).not.toBeNull();
    site.clock.now += DAY;
    expect(await site.images.sweep()).toMatchObject({ emptied: 1, failed: 0 });
    expect(await site.store.stat(`${id}/original`)).toBeNull();
    site.clock.now += DAY;
    await site.images.sweep();
    expect(await storedRecord(site.store, id)).toBeNull();
  });

  test("a damaged image: DELETE answers 204 with the right PIN and 403 with a wrong one, PATCH 500", async () => {
    const site = createLifeSite({ store: createStore() });
    const { id, pin } = await damagedImage(site);
    const path = `/api/images/${id}.json`;
    expect((await site.send("DELETE", path, { search: "pin=wrong" })).status).toBe(403);
    expect(site.errors).toEqual([]);
    expect((await site.send("PATCH", path, { search: `pin=${pin}&name=new` })).status).toBe(500);
    expect(namesOf(site.errors, id)).toEqual([true]);
    expect((await site.send("DELETE", path, { search: `pin=${pin}` })).status).toBe(204);
    expect(await statusesOf(site, readsOf(id))).toEqual([410]);
    expect(await site.store.stat(`${id}/original`)).toBeNull();
  });

  test("list, stats and sweep report a damaged record and process all others", async () => {
    const site = createLifeSite({ store: createStore() });
    const { id } = await damagedImage(site);
    await site.create();
    const states: string[] = [];
    for await (const image of site.images.list()) states.push(image.state);
    expect(states.sort()).toEqual(["damaged", "ready"]);
    expect(await site.images.stats()).toMatchObject({
      images: 2,
      bytes: PNG.length,
      states: { ready: 1, damaged: 1 },
    });
    site.clock.now += DAY;
    expect((await site.images.sweep()).failed).toBeGreaterThan(0);
    expect((await site.images.stats()).states).toMatchObject({ expired: 1, damaged: 1 });
    expect(namesOf(site.errors, id)).not.toContain(false);
    const due = (await entriesOf(site.store)).filter((entry) => entry.id === id);
    expect(due.length).toBeGreaterThan(0);
    for (const { dueMs } of due) expect(dueMs).toBeGreaterThan(site.clock.now);
  });
});

test("removing a damaged image releases its owner's quota if the record still names the owner", async () => {
  const site = createLifeSite({ authorize: () => ({ owner: "anna" }) });
  const { id } = await damagedImage(site, "a text for a date");
  await site.images.remove(id);
  expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
});

test("a faster concurrent writer wins over remove() and withhold() of a damaged record", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  const good = (await bytesAt(site.store, `${id}/record`)) ?? Buffer.alloc(0);
  await damage(site, id);
  let isRestored = false;
  const { store } = site;
  const other = site.another({
    store: {
      ...store,
      async put(key, body, options) {
        if (key === `${id}/record` && !isRestored) {
          isRestored = true;
          await store.put(key, good);
        }
        return store.put(key, body, options);
      },
    },
  });
  await expect(other.images.remove(id)).rejects.toMatchObject({ code: "conflict" });
  expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(200);
  await damage(site, id);
  isRestored = false;
  await other.images.withhold(id, { reason: "Case 4711" });
  expect(await storedRecord(store, id)).toMatchObject({
    name: "picture.png",
    withheld: { reason: "Case 4711" },
  });
});

test("a job marker of a damaged record is dropped, and other jobs go on", async () => {
  const site = createLifeSite({ processUploads: false });
  const later = { headers: { prefer: "respond-async" } };
  const { id } = created(await site.create(later));
  const other = created(await site.create(later));
  await damage(site, id);
  const worker = anotherProcess(site, { processUploads: true });
  await expect.poll(() => entriesOf(site.store, "jobs")).toEqual([]);
  expect((await site.send("GET", `/api/images/${other.id}.png`)).status).toBe(200);
  expect(namesOf(worker.errors, id)).toEqual([true]);
});

test("a name that looks like a field of a record does not count as an end", () => {
  const record = { name: '","gone":{"at":1},"withheld":{', gone: null, withheld: null };
  const cut = Buffer.from(JSON.stringify(record)).subarray(0, -1);
  expect(remainsOf(cut)).toMatchObject({ hadEnded: false, wasWithheld: false });
  const ended = Buffer.from(JSON.stringify({ gone: { at: 1, why: "deleted" }, withheld: {} })).subarray(
    0,
    -1,
  );
  expect(remainsOf(ended)).toMatchObject({ hadEnded: true, wasWithheld: true });
});
