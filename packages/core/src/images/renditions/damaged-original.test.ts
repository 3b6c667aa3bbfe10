import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, type ImageSite } from "../../../test/image-site.ts";
import { createLifeSite, STORES } from "../../../test/life-site.ts";
import type { Observer } from "../../contracts/observer.ts";
import { isServiceError } from "../../errors.ts";

/** Larger than a memory cache entry, so it is sent as a stream. */
const LARGE = Buffer.concat([PNG, randomBytes(3 * 2 ** 20)]);

/** Requests that read the original. */
const READS = [
  { method: "GET", suffix: ".png" },
  { method: "HEAD", suffix: ".png" },
  { method: "GET", suffix: ".png", headers: { range: "bytes=0-9" } },
  { method: "GET", suffix: ".jpg" },
  { method: "GET", suffix: ".png", search: "resize=20x20" },
  { method: "GET", suffix: "" },
];

function read(site: ImageSite, id: string, { method, suffix, ...options }: (typeof READS)[number]) {
  return site.send(method, suffix === "" ? `/${id}` : `/api/images/${id}${suffix}`, options);
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test.each([
    ["a small original that was cut", PNG, PNG.subarray(0, 10)],
    ["a small original that grew", PNG, Buffer.concat([PNG, PNG])],
    ["a large original that was cut", LARGE, LARGE.subarray(0, 2.5 * 2 ** 20)],
    ["a large original that is empty", LARGE, Buffer.alloc(0)],
  ])(
    "%s is never served: every read answers 500 and logs the ID and both sizes",
    async (_case, whole, damaged) => {
      const site = createLifeSite({ store: createStore() });
      const { id } = created(await site.create({ file: whole }));
      await site.store.put(`${id}/original`, damaged);
      for (const request of READS) {
        site.errors.length = 0;
        const answer = await read(site, id, request);
        expect([request, answer.status]).toEqual([request, 500]);
        expect(site.errors).toHaveLength(1);
        const [error] = site.errors;
        const said = isServiceError(error, "damaged") ? error.message : String(error);
        for (const part of [id, String(damaged.length), String(whole.length)]) expect(said).toContain(part);
      }
      expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(200);
    },
  );

  test("a missing original answers 500, logs the ID, and is counted as missing", async () => {
    const origins: string[] = [];
    const observer: Observer = {
      observe: (_operation, work) => work(),
      served: (from) => void origins.push(from),
      gauge: () => () => undefined,
    };
    const site = createLifeSite({ store: createStore(), observer });
    const { id } = created(await site.create());
    await site.store.delete(`${id}/original`);
    for (const request of READS) {
      site.errors.length = 0;
      origins.length = 0;
      expect((await read(site, id, request)).status).toBe(500);
      expect(origins).toEqual(["missing"]);
      expect(site.errors.map(String).join()).toContain(id);
    }
  });
});

test("an original cut between stat and read answers 500 instead of a partial body", async () => {
  const store = STORES.memory();
  let isCut = false;
  const site = createLifeSite({
    store: {
      ...store,
      async get(key, options) {
        if (key.endsWith("/original") && isCut) await store.put(key, LARGE.subarray(0, 3 * 2 ** 20));
        return store.get(key, options);
      },
    },
  });
  const { id } = created(await site.create({ file: LARGE }));
  isCut = true;
  expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(500);
});

test("an upload that was cut while queued for processing is not stored as an image", async () => {
  const site = createLifeSite({ processUploads: false });
  const { id } = created(await site.create({ headers: { prefer: "respond-async" } }));
  await site.store.put(`${id}/upload`, PNG.subarray(0, 12));
  const worker = site.another({ processUploads: true });
  await expect.poll(() => worker.errors.map(String).join()).toContain(`upload of image ${id}`);
  expect(await site.store.stat(`${id}/original`)).toBeNull();
});
