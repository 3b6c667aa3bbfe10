import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallOptions } from "../../../test/calls.ts";
import { type Answer, created, type ImageSite } from "../../../test/image-site.ts";
import { createLifeSite, DAY, SECOND } from "../../../test/life-site.ts";

type Send = (path: string, options?: CallOptions) => Promise<Answer>;

/**
 * A shared cache that uses all its freedom (RFC 9111): it serves fresh replies, and revalidates stale ones by their
 * tag.
 */
function createCache(clock: { now: number }, send: Send): Send {
  const kept = new Map<string, { answer: Answer; freshUntil: number }>();
  return async (path) => {
    const entry = kept.get(path);
    if (entry !== undefined && clock.now < entry.freshUntil) return entry.answer;
    const etag = entry?.answer.headers.ETag;
    const headers = typeof etag === "string" ? { "if-none-match": etag } : {};
    const fetched = await send(path, { headers });
    const answer = entry !== undefined && fetched.status === 304 ? entry.answer : fetched;
    const maxAge = /max-age=(\d+)/.exec(String(fetched.headers["Cache-Control"]))?.[1];
    if (maxAge === undefined) kept.delete(path);
    else kept.set(path, { answer, freshUntil: clock.now + Number(maxAge) * SECOND });
    return answer;
  };
}

const FORMATS = ["png", "jpg", "webp"];

/** Reads through a cache at random times around the expiry of a picture. No read may get the picture after it. */
function neverTooLate(behave: (site: ImageSite) => Send) {
  const reads = fc.array(
    fc.record({ afterMs: fc.integer({ min: -400_000, max: 400_000 }), format: fc.constantFrom(...FORMATS) }),
    { minLength: 2, maxLength: 12 },
  );
  return fc.asyncProperty(reads, async (wanted) => {
    const site = createLifeSite({ cacheSeconds: 300 });
    const { id } = created(await site.create());
    const end = site.clock.now + DAY;
    const get = createCache(site.clock, behave(site));
    for (const { afterMs, format } of wanted.sort((a, b) => a.afterMs - b.afterMs)) {
      site.clock.now = end + afterMs;
      const { status } = await get(`/api/images/${id}.${format}`);
      expect([afterMs, status]).toEqual([afterMs, afterMs < 0 ? 200 : 410]);
    }
    await site.images.close();
  });
}

test("no conforming cache serves a picture after its expiry", async () => {
  await fc.assert(neverTooLate((site) => (path, options) => site.send("GET", path, options)));
});

test("the cache test fails for a service with a constant max-age", async () => {
  const { failed } = await fc.check(
    neverTooLate((site) => async (path, options) => {
      const answer = await site.send("GET", path, options);
      if (answer.status >= 400) return answer;
      return { ...answer, headers: { ...answer.headers, "Cache-Control": "public, max-age=300" } };
    }),
  );
  expect(failed).toBe(true);
});

/** Keys of bytes that remain after the expiry of their image and a sweep. */
async function leftAfterTheEnd(site: ImageSite, sweep: () => Promise<unknown>): Promise<string[]> {
  await site.create();
  site.clock.now += DAY;
  await sweep();
  const { keys } = await site.store.list("");
  return keys.filter((key) => /\/(?:original|upload|renditions)/.test(key));
}

test("no bytes of an image remain after its expiry and a sweep", async () => {
  const site = createLifeSite();
  expect(await leftAfterTheEnd(site, () => site.images.sweep())).toEqual([]);
});

test("the test for remaining bytes fails for a service that does not sweep", async () => {
  expect(await leftAfterTheEnd(createLifeSite(), async () => {})).toHaveLength(1);
});
