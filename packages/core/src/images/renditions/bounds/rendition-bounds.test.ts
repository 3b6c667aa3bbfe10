import { describe, expect, test } from "vitest";
import {
  bytesIn,
  createBoundsSite,
  DAY_MS,
  HOUR_MS,
  idsOf,
  keyOf,
  ledgerOf,
  storedOf,
} from "../../../../test/bounds-site.ts";

describe("idle renditions of an image", () => {
  test("are removed after idleDays without use, and its other blobs stay", async () => {
    const { store, bounds, put, keep } = createBoundsSite({ idleDays: 7 });
    const [idle = "", used = ""] = idsOf(2);
    for (const id of [idle, used]) {
      await put(id, 100);
      await store.put(`${id}/failures/gif`, Buffer.from("no"));
      for (const part of ["record", "original", "upload"]) await store.put(`${id}/${part}`, Buffer.alloc(9));
    }
    await keep();
    await keep(4 * DAY_MS);
    bounds.used(used, keyOf(used));
    await keep(4 * DAY_MS);
    expect(await storedOf(store, [idle, used])).toEqual([false, true]);
    expect((await store.list(`${idle}/`)).keys.sort()).toEqual(
      ["original", "record", "upload"].map((part) => `${idle}/${part}`),
    );
    expect([...(await ledgerOf(store)).keys()]).toEqual([used]);
  });

  test("stay for ever without idleDays", async () => {
    const { store, put, keep } = createBoundsSite({ idleDays: null, maxBytes: 1000 });
    const [id = ""] = idsOf(1);
    await put(id, 100);
    for (let year = 0; year < 3; year++) await keep(365 * DAY_MS);
    expect(await storedOf(store, [id])).toEqual([true]);
  });

  test("stay while another process serves them", async () => {
    const site = createBoundsSite({ idleDays: 2 });
    const other = site.another();
    const [id = ""] = idsOf(1);
    await site.put(id, 100);
    for (let day = 0; day < 6; day++) {
      other.bounds.used(id, keyOf(id));
      await other.keep(DAY_MS);
      await site.keep();
    }
    expect(await storedOf(site.store, [id])).toEqual([true]);
  });
});

describe("the renditions of a store", () => {
  test("over maxBytes are evicted, least recently used images first, down to 90% of it", async () => {
    const { store, bounds, clock, put, another } = createBoundsSite();
    const ids = idsOf(90);
    for (const id of ids) {
      await put(id, 1000);
      clock.now += HOUR_MS;
    }
    const [first = ""] = ids;
    bounds.used(first, keyOf(first));
    const more = idsOf(20);
    for (const id of more) await put(id, 1000);
    await bounds.close();
    await another({ maxBytes: 100_000 }).keep(HOUR_MS);
    const left = await bytesIn(store);
    expect(left).toBeLessThanOrEqual(90_000);
    expect(left).toBeGreaterThanOrEqual(85_000);
    expect(await storedOf(store, [first])).toEqual([true]);
    expect(await storedOf(store, ids.slice(1, 20))).toEqual(Array(19).fill(false));
    expect(await storedOf(store, [...ids.slice(30), ...more])).toEqual(Array(80).fill(true));
  });

  test("are kept within maxBytes by the storing process without a sweep", async () => {
    const { store, put, bounds, errors } = createBoundsSite({ maxBytes: 1_000_000, idleDays: null });
    for (const id of idsOf(400)) await put(id, 10_000);
    await bounds.close();
    expect(await bytesIn(store)).toBeLessThanOrEqual(1_000_000 * (1 + 1 / 16) + 10_000);
    expect(errors).toEqual([]);
  });

  test("stay within maxBytes while four processes store and sweep at once", async () => {
    const site = createBoundsSite({ maxBytes: 200_000, idleDays: null });
    const sites = [site, site.another(), site.another(), site.another()];
    for (let turn = 0; turn < 20; turn++) {
      site.clock.now += HOUR_MS;
      await Promise.all(
        sites.map(async ({ put, keep }) => {
          for (const id of idsOf(10)) await put(id, 1000);
          await keep();
        }),
      );
    }
    for (const each of sites) await each.bounds.close();
    await createBoundsSite({ store: site.store, maxBytes: 200_000, clock: site.clock }).keep(HOUR_MS);
    expect(await bytesIn(site.store)).toBeLessThanOrEqual(200_000);
    expect(await bytesIn(site.store)).toBeGreaterThanOrEqual(100_000);
    expect(sites.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
