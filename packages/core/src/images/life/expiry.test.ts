import { describe, expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { created, type ImageSite, type SiteOptions, storedRecord } from "../../../test/image-site.ts";
import {
  anotherProcess,
  BROWSER,
  createLifeSite,
  DAY,
  HOUR,
  type ReadRequest,
  readsOf,
  STORES,
  statusesOf,
  tracesOf,
} from "../../../test/life-site.ts";
import { holdUp, signal, tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

async function siteWithImage(
  options: SiteOptions = {},
): Promise<{ site: ImageSite; id: string; pin: string }> {
  const site = createLifeSite(options);
  return { site, ...created(await site.create()) };
}

/** The statuses of all reads after the image has expired, in either process. */
async function statusesAfterwards(sites: readonly ImageSite[], requests: readonly ReadRequest[]) {
  const statuses = await Promise.all(sites.map((site) => statusesOf(site, requests)));
  return [...new Set(statuses.flat())];
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("an image is served in every way until its last millisecond, and in none afterwards", async () => {
    const { site, id } = await siteWithImage({ store: createStore() });
    const other = anotherProcess(site);
    site.clock.now += DAY - 1;
    expect(await statusesOf(site, readsOf(id))).toEqual([200, 206, 304]);
    expect(await statusesOf(other, readsOf(id))).toEqual([200, 206, 304]);
    site.clock.now += 1;
    expect(await statusesAfterwards([site, other], readsOf(id))).toEqual([410]);
    expect(site.errors).toEqual([]);
  });

  test("an expired image stays expired on every process when the clock is set back, whether it was read or swept", async () => {
    const { site, id } = await siteWithImage({ store: createStore() });
    const swept = created(await site.create()).id;
    const other = anotherProcess(site);
    expect(await statusesOf(other, readsOf(id))).toEqual([200, 206, 304]);
    const before = site.clock.now;
    site.clock.now += DAY;
    expect((await site.send("HEAD", `/api/images/${id}.png`)).status).toBe(410);
    site.clock.now = before;
    expect(await statusesAfterwards([site, other], readsOf(id))).toEqual([410]);

    site.clock.now += DAY;
    await site.images.sweep();
    site.clock.now = before;
    expect(await statusesAfterwards([site, other], readsOf(swept))).toEqual([410]);
  });
});

test.each([
  [0, 404],
  [1, 410],
  [30, 410],
])(
  "with %i tombstone days an expired image answers %i until they are over, then 404",
  async (days, first) => {
    const { site, id } = await siteWithImage({ tombstoneDays: days });
    site.clock.now += DAY;
    expect(await statusesOf(site, readsOf(id))).toEqual([first]);
    site.clock.now += days * DAY - 1;
    if (days > 0) expect(await statusesOf(site, readsOf(id))).toEqual([410]);
    site.clock.now += 1;
    expect(await statusesOf(site, readsOf(id))).toEqual([404]);
  },
);

test("the 410 names the time of expiry, for programs and for people", async () => {
  const { site, id } = await siteWithImage();
  site.clock.now += 2 * DAY;
  const json = await site.send("GET", `/api/images/${id}.json`);
  expect(json.json).toMatchObject({ status: 410, detail: "This image expired at 2026-03-02T12:00:00.000Z." });
  expect(json.headers).toMatchObject({ "Cache-Control": "no-store" });
  const page = await site.send("GET", `/${id}`, { headers: { accept: "text/html" } });
  expect(page.text).toBe("problem 410: This image expired at 2026-03-02T12:00:00.000Z.");
});

test("an image that expires while the storage is slow is not served", async () => {
  const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
  let onRead = () => {};
  const store = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (method === "get" && key.endsWith("/original")) onRead();
  });
  const { site, id } = await siteWithImage({ store, clock, memoryBytes: 0 });
  onRead = () => {
    clock.now += DAY;
  };
  expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(410);
});

test("an image that expires while authorize decides is not served", async () => {
  const decided = signal();
  for (const { method, path, headers } of readsOf("ID")) {
    const { site, id } = await siteWithImage({
      async authorize(_call, action) {
        if (action === "create") return true;
        await decided.promise;
        site.clock.now += DAY;
        return true;
      },
    });
    decided.give();
    const answer = await site.send(method, path.replace("ID", id), { headers });
    expect([method, path, headers, answer.status]).toEqual([method, path, headers, 410]);
  }
});

test("the edit form of an image that expires while authorize decides is not shown", async () => {
  const { site, id } = await siteWithImage({
    authorize(_call, action) {
      if (action === "edit") site.clock.now += DAY;
      return true;
    },
  });
  expect((await site.send("GET", `/${id}/edit`)).status).toBe(410);
});

test.each([[{}], [{ "if-none-match": "*" }], [BROWSER]])(
  "an image that expires while the body of a request with headers %j arrives is not served",
  async (headers) => {
    const { site, id } = await siteWithImage();
    const path = `/api/images/${id}.png`;
    // Loads the image into memory.
    expect((await site.send("GET", path)).status).toBe(200);
    const call = createCall("GET", path, { headers: { ...headers, "content-length": "2" } });
    const reply = await site.images.handle({
      ...call,
      async fields() {
        site.clock.now += DAY;
        return {};
      },
    });
    expect(reply?.status).toBe(410);
  },
);

test("a store that rejects writes does not bring an expired image back", async () => {
  let isBroken = false;
  const store = tapStore(createMemoryBlobStore(), ({ method }) => {
    if (isBroken && method === "put") throw new ServiceError("store_unavailable", "No answer.");
  });
  const { site, id } = await siteWithImage({ store });
  site.clock.now += DAY;
  isBroken = true;
  expect(await statusesOf(site, readsOf(id))).toEqual([410]);
  expect(site.errors.length).toBeGreaterThan(0);
});

test("two processes that find an image expired at once record its end once", async () => {
  const { site, id } = await siteWithImage();
  const other = anotherProcess(site);
  site.clock.now += DAY + HOUR;
  const answers = await Promise.all(
    [site, other, site, other].map((each) => each.send("GET", `/api/images/${id}.json`)),
  );
  expect(answers.map(({ status }) => status)).toEqual([410, 410, 410, 410]);
  expect((await storedRecord(site.store, id))?.gone).toEqual({
    at: Date.parse("2026-03-02T12:00:00.000Z"),
    why: "expired",
  });
});

test("a change that starts before an expiry and ends after it is rejected", async () => {
  const { site, id, pin } = await siteWithImage();
  const held = holdUp(({ method, key }) => method === "put" && key === `${id}/record`);
  const slow = anotherProcess(site, { store: tapStore(site.store, held.tap) });
  const headers = { "x-service-image-pin": pin };
  const renamed = slow.send("PATCH", `/api/images/${id}.json`, { headers, fields: { name: "Renamed" } });
  await held.reached;
  const before = site.clock.now;
  site.clock.now += DAY;
  expect((await site.send("GET", `/${id}`)).status).toBe(410);
  held.letGo();
  expect((await renamed).status).toBe(410);
  site.clock.now = before;
  expect(await statusesAfterwards([site, slow], readsOf(id))).toEqual([410]);
});

test("a deletion leaves no bytes behind when a sweep of another process removes its due entry before the record ends", async () => {
  const shared = createMemoryBlobStore();
  let other: ImageSite | undefined;
  let isFailing = false;
  const store = tapStore(shared, async ({ method, key, ifRevision }) => {
    if (method === "put" && key.endsWith("/record") && ifRevision !== null) await other?.images.sweep();
    if (method === "delete" && isFailing)
      throw new ServiceError("store_unavailable", "The store cannot be reached");
  });
  const site = createLifeSite({ store, maxLifetimeMs: null });
  const { id, pin } = created(await site.create({ uploadFields: { expiresAt: "never" } }));
  other = anotherProcess(site, { store: shared });
  isFailing = true;
  const deletion = await site.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` });
  expect(deletion.status).toBe(204);
  isFailing = false;
  site.clock.now += 31 * DAY;
  await site.images.sweep();
  expect(await tracesOf(shared, id)).toEqual([]);
});
