import { describe, expect, test } from "vitest";
import { createCacheSite, DAY_MS, keyOf, STORES } from "../../../test/cache-site.ts";

/** As written by release 0.1: one image is used after its usage was merged, one is only in a batch, one has ended. */
const EARLIER = {
  "AAAAAAAAAAAAAAAAAAAAAA/notes": '{"v":1,"stored":[["png",1000]],"failures":[]}',
  "CCCCCCCCCCCCCCCCCCCCCC/notes": '{"v":1,"stored":[["png",3000]],"failures":[]}',
  "rendition-notes/since": "0",
  "rendition-usage/00/rs.ajvo.0.b8291c05415f":
    '{"v":1,"images":{"AAAAAAAAAAAAAAAAAAAAAA":[492324,1000,1772366400000]}}',
  "rendition-usage/01/1jk.ajvo.0.b37a2c2d1d1e":
    '{"v":1,"images":{"BBBBBBBBBBBBBBBBBBBBBB":[492324,2000,1772366400000]}}',
  "rendition-usage/notes/2bc.ajvv.ad6394ca2703":
    '{"v":1,"images":{"CCCCCCCCCCCCCCCCCCCCCC":[492331,3000,1772391600000],"AAAAAAAAAAAAAAAAAAAAAA":[492331,null,0]}}',
  "rendition-usage/search": '{"v":1,"cursor":"x","doneMs":null}',
  "rendition-usage/02/damaged": "rot",
};

describe.each(STORES)(
  "what earlier releases stored about the use of renditions in %s",
  (_name, createStore) => {
    async function open(idleDays: number | null) {
      const store = createStore();
      for (const [key, text] of Object.entries(EARLIER)) await store.put(key, Buffer.from(text));
      const site = createCacheSite({ store, idleDays, clock: { now: 1_772_391_600_000 } });
      const images = ["A", "C"].map((letter) => site.create({ id: letter.repeat(22), createdAt: 1 }));
      for (const image of images) await store.put(keyOf(image, "png"), Buffer.alloc(10));
      const usage = async () => (await store.list("rendition-usage/")).keys;
      return { ...site, images, usage };
    }

    test("is deleted by the first sweep, and the images are removed when they are idle", async () => {
      const { clock, images, names, usage, sweep, entries } = await open(10);
      await sweep();
      expect(await usage()).toEqual([]);
      for (let day = 0; day < 21; day++) await sweep(DAY_MS);
      for (const image of images) expect(await names(image)).toEqual([]);
      expect(await entries()).toEqual([]);
      expect(clock.now).toBe(1_772_391_600_000 + 21 * DAY_MS);
    });

    test("is deleted by the sweep of a later day, if a process of an earlier release writes it meanwhile", async () => {
      const { store, usage, sweep } = await open(null);
      await sweep();
      await store.put("rendition-usage/notes/2bc.ajvv.ad6394ca2703", Buffer.from('{"v":1,"images":{}}'));
      await sweep(DAY_MS - 1);
      expect(await usage()).toHaveLength(1);
      await sweep(1);
      expect(await usage()).toEqual([]);
    });

    test("is left where a sweep must stop", async () => {
      const { cache, usage } = await open(10);
      await cache.sweep(() => false);
      expect((await usage()).length).toBeGreaterThan(0);
      await cache.sweep(() => true);
      expect(await usage()).toEqual([]);
    });
  },
);
