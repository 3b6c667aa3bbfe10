import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallOptions } from "../../../test/calls.ts";
import { type Answer, created, type ImageSite } from "../../../test/image-site.ts";
import { createLifeSite, DAY, SECOND } from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

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

test("no conforming cache serves a picture after its expiry", async () => {
  const reads = fc.array(
    fc.record({ afterMs: fc.integer({ min: -400_000, max: 400_000 }), format: fc.constantFrom(...FORMATS) }),
    { minLength: 2, maxLength: 12 },
  );
  // Reads through a cache at random times around the expiry. No read may get the picture after it.
  const neverTooLate = fc.asyncProperty(reads, async (wanted) => {
    const site = createLifeSite({ cacheSeconds: 300 });
    const { id } = created(await site.create());
    const end = site.clock.now + DAY;
    const get = createCache(site.clock, (path, options) => site.send("GET", path, options));
    for (const { afterMs, format } of wanted.sort((a, b) => a.afterMs - b.afterMs)) {
      site.clock.now = end + afterMs;
      const { status } = await get(`/api/images/${id}.${format}`);
      expect([afterMs, status]).toEqual([afterMs, afterMs < 0 ? 200 : 410]);
    }
    await site.images.close();
  });
  await fc.assert(neverTooLate);
});

test("no bytes of an image remain after its expiry and a sweep", async () => {
  const site = createLifeSite();
  await site.create();
  site.clock.now += DAY;
  await site.images.sweep();
  const { keys } = await site.store.list("");
  expect(keys.filter((key) => /\/(?:original|upload|renditions)/.test(key))).toEqual([]);
});

test("a CDN that purges by tag serves no copy after a takedown, a deletion or an edit", async () => {
  const copies = new Map<string, Answer>();
  const purged: string[] = [];
  const site = createLifeSite({
    cacheSeconds: 86_400,
    cacheTag: "Cache-Tag",
    onPurge({ id, paths }, why) {
      for (const [path, { headers }] of copies) {
        if (headers["Cache-Tag"] !== id) continue;
        expect(paths).toContain(path);
        copies.delete(path);
      }
      purged.push(`${why} ${id}`);
    },
  });
  const read = async (path: string) => {
    const answer = copies.get(path) ?? (await site.send("GET", path));
    copies.set(path, answer);
    return answer.status;
  };
  const images = await Promise.all([site.create(), site.create(), site.create(), site.create()]);
  const [withheld, deleted, edited, other] = images.map((answer) => created(answer));
  const paths = images.flatMap((answer) =>
    FORMATS.map((format) => `/api/images/${created(answer).id}.${format}`),
  );
  for (const path of paths) expect(await read(path)).toBe(200);
  await site.images.withhold(String(withheld?.id), { reason: "By order of the court." });
  await site.send("DELETE", `/api/images/${deleted?.id}.json`, { search: `pin=${deleted?.pin}` });
  const search = `pin=${edited?.pin}&focus=0.1,0.9`;
  expect((await site.send("PATCH", `/api/images/${edited?.id}.json`, { search })).status).toBe(200);
  expect(purged).toEqual([`withheld ${withheld?.id}`, `deleted ${deleted?.id}`, `edited ${edited?.id}`]);
  const kept = paths.filter((path) => copies.has(path));
  expect(kept).toEqual(FORMATS.map((format) => `/api/images/${other?.id}.${format}`));
  const statuses = [];
  for (const path of paths) statuses.push(await read(path));
  expect(statuses).toEqual([451, 451, 451, 410, 410, 410, 200, 200, 200, 200, 200, 200]);
});

test("onPurge is called neither for an edit that copies outlive nor when an image expires", async () => {
  const purged: string[] = [];
  const site = createLifeSite({ onPurge: ({ id }, why) => purged.push(`${why} ${id}`) });
  const { id, pin } = created(await site.create());
  const later = site.clock.now + 2 * DAY;
  const edit = (expiresAt: number) =>
    site.send("PATCH", `/api/images/${id}.json`, {
      search: `pin=${pin}&expiresAt=${new Date(expiresAt).toISOString()}`,
    });
  expect((await edit(later)).status).toBe(200);
  expect(purged).toEqual([]);
  expect((await edit(later - DAY)).status).toBe(200);
  expect(purged).toEqual([`edited ${id}`]);
  site.clock.now = later;
  await site.images.sweep();
  expect(purged).toHaveLength(1);
});

test.each([
  [
    "withheld",
    (site: ImageSite, id: string) => site.images.withhold(id, { reason: "By order of the court." }),
  ],
  ["deleted", (site: ImageSite, id: string) => site.images.remove(id)],
] as const)("onPurge is called although the reply to the write is lost: %s", async (why, change) => {
  const purged: string[] = [];
  const shared = createMemoryBlobStore();
  let isLost = true;
  const put: BlobStore["put"] = async (key, body, options) => {
    const stored = await shared.put(key, body, options);
    if (isLost && options?.ifRevision && key.endsWith("/record")) {
      throw new ServiceError("store_unavailable", "The connection broke");
    }
    return stored;
  };
  const store = { ...shared, put };
  const site = createLifeSite({ store, onPurge: ({ id }, reason) => purged.push(`${reason} ${id}`) });
  const { id } = created(await site.create());
  await expect(change(site, id)).rejects.toMatchObject({ code: "store_unavailable" });
  expect(purged).toEqual([`${why} ${id}`]);
  isLost = false;
  await change(site, id).catch(() => undefined);
  expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(why === "withheld" ? 451 : 410);
});

test.each(["Content-Type", "ETag", "cache-control", "Cache Tag", "", "X-Sendfile", "x-accel-expires"])(
  "cacheTag must not be %j",
  (cacheTag) => {
    expect(() => createLifeSite({ cacheTag })).toThrow("cacheTag must be the name of a header");
  },
);
