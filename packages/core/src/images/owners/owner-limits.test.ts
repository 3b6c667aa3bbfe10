import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, type ImageSite, type SiteOptions } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createLifeSite,
  DAY,
  HOUR,
  STORES,
  willingRenderer,
} from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { OwnerGrant } from "../authorize.ts";

const SIZE = PNG.length;
const NO_IMAGE = "At most 2 images at a time: delete one, or wait until one expires";

/** A site where every client has the current `grant`. */
function ownedSite(options: SiteOptions = {}, grant: OwnerGrant = { owner: "anna" }) {
  const now = { grant };
  return { site: createLifeSite({ authorize: () => now.grant, ...options }), now };
}

async function refusal(site: ImageSite): Promise<unknown[]> {
  const { status, json } = await site.create();
  return [status, json.detail];
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("an owner cannot exceed the image limit by concurrent uploads on several processes", async () => {
    const { site } = ownedSite({ store: createStore(), ownerLimits: { images: 2 } });
    const other = anotherProcess(site);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? site : other).create()),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(answers.length - refused.length).toBe(2);
    expect(new Set(refused.map(({ status, json }) => `${status} ${json.detail}`))).toEqual(
      new Set([`403 ${NO_IMAGE}`]),
    );
    expect(await other.images.usage("anna")).toEqual({ images: 2, bytes: 2 * SIZE });
    expect([...site.errors, ...other.errors]).toEqual([]);
  });
});

test("an owner may have the last byte of the limit, and cannot exceed it", async () => {
  const { site } = ownedSite({ ownerLimits: { bytes: 2 * SIZE + 12 } });
  await site.create();
  await site.create();
  expect(await refusal(site)).toEqual([
    403,
    `Your images may have at most ${2 * SIZE + 12} bytes in total: 12 bytes are left, and this image has ${SIZE} bytes`,
  ]);
  const statuses = [];
  for (const bytes of [13, 12, 12])
    statuses.push((await site.create({ file: PNG.subarray(0, bytes) })).status);
  expect(statuses).toEqual([403, 201, 403]);
  expect(await site.images.usage("anna")).toEqual({ images: 3, bytes: 2 * SIZE + 12 });
});

test("an upload answers 503 with Retry-After if the usage of its owner keeps changing", async () => {
  const store = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (method === "put" && key.startsWith("usage/"))
      throw new ServiceError("conflict", "The blob was changed by another process.");
  });
  const { status, headers } = await ownedSite({ store }).site.create();
  expect([status, headers["Retry-After"]]).toEqual([503, "2"]);
});

test("images of one owner count neither for another owner nor for uploads without an owner", async () => {
  const { site, now } = ownedSite({ ownerLimits: { images: 1 } });
  expect((await site.create()).status).toBe(201);
  expect((await site.create()).status).toBe(403);
  now.grant = { owner: "berta" };
  expect((await site.create()).status).toBe(201);
  const anybody = createLifeSite({ ownerLimits: { images: 0 } });
  expect((await anybody.create()).status).toBe(201);
});

test("limits that authorize returns take precedence over ownerLimits", async () => {
  const { site, now } = ownedSite({ ownerLimits: { images: 1 } }, { owner: "anna", limits: { images: 2 } });
  await site.create();
  expect((await site.create()).status).toBe(201);
  expect(await refusal(site)).toEqual([403, NO_IMAGE]);
  now.grant = { owner: "anna", limits: {} };
  expect((await site.create()).status).toBe(201);
  now.grant = { owner: "anna" };
  expect((await site.create()).status).toBe(403);
});

test("owner limits out of range throw a TypeError as an option and answer 500 from authorize", async () => {
  for (const limits of [{ images: -1 }, { images: 1.5 }, { bytes: Number.NaN }]) {
    expect(() => ownedSite({ ownerLimits: limits })).toThrow(TypeError);
    const { site } = ownedSite({}, { owner: "anna", limits });
    expect((await site.create()).status).toBe(500);
    expect(site.errors).toHaveLength(1);
  }
});

describe("an owner's quota is released", () => {
  test("DELETE releases an image's quota exactly once", async () => {
    const { site } = ownedSite({ ownerLimits: { images: 2 } });
    const { id, pin } = created(await site.create());
    await site.create();
    expect((await site.create()).status).toBe(403);
    const path = `/api/images/${id}.json`;
    expect((await site.send("DELETE", path, { search: `pin=${pin}` })).status).toBe(204);
    await site.send("DELETE", path, { search: `pin=${pin}` });
    site.clock.now += HOUR;
    await site.images.sweep();
    expect(await site.images.usage("anna")).toEqual({ images: 1, bytes: SIZE });
    expect((await site.create()).status).toBe(201);
    expect((await site.create()).status).toBe(403);
  });

  test("sweeps after the expiry release an image's quota exactly once, on any process", async () => {
    const { site } = ownedSite({ ownerLimits: { images: 2 }, tombstoneDays: 1 });
    const other = anotherProcess(site);
    await site.create();
    await site.create();
    site.clock.now += DAY;
    await Promise.all([site.images.sweep(), other.images.sweep()]);
    expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
    await site.create();
    site.clock.now += DAY - 1;
    await site.images.sweep();
    site.clock.now += DAY + 1;
    await other.images.sweep();
    await other.images.sweep();
    expect(await other.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
  });

  test("a failed upload releases its quota at any point of failure", async () => {
    const kept = createMemoryBlobStore();
    let broken: RegExp | null = null;
    const store = tapStore(kept, ({ method, key }) => {
      if (method === "put" && broken?.test(key)) throw new ServiceError("store_unavailable", "No answer.");
    });
    const renderer = willingRenderer();
    const { site } = ownedSite({ store, renderer, ownerLimits: { images: 2 } });
    renderer.answer = ({ refuse }) => refuse(new ServiceError("unsupported_media", "Its pixels end early."));
    for (let count = 0; count < 3; count++) expect((await site.create()).status).toBe(415);
    renderer.answer = ({ accept }) => accept();
    for (const at of [/^due-images\//, /\/original$/, /\/record$/]) {
      broken = at;
      for (let count = 0; count < 3; count++) expect((await site.create()).status).toBe(503);
    }
    broken = null;
    expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
    await site.create();
    expect((await site.create()).status).toBe(201);
  });

  test("an upload that is rejected after its 202 releases its quota", async () => {
    const renderer = willingRenderer();
    const { site } = ownedSite({ renderer, ownerLimits: { images: 1 } });
    renderer.answer = ({ refuse }) => refuse(new ServiceError("unsupported_media", "Its pixels end early."));
    const { id } = created(await site.create({ headers: { prefer: "respond-async" } }));
    await expect
      .poll(async () => (await site.send("GET", `/api/images/${id}.json`)).json.detail)
      .toBe("Its pixels end early.");
    await expect
      .poll(async () => {
        await site.images.sweep();
        return site.images.usage("anna");
      })
      .toEqual({ images: 0, bytes: 0 });
    site.clock.now += DAY;
    await site.images.sweep();
    expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
  });

  test("the quota of an upload whose process died is released by the first change more than 15 minutes later", async () => {
    const store = createMemoryBlobStore();
    const never = new Promise<void>(() => {});
    let reached = false;
    const dying = ownedSite({
      store: tapStore(store, async ({ method, key }) => {
        if (method !== "put" || !key.endsWith("/original")) return;
        reached = true;
        await never;
      }),
    }).site;
    void dying.create();
    await expect.poll(() => reached).toBe(true);
    dying.kill();
    const { site } = ownedSite({ store, clock: dying.clock, ownerLimits: { images: 1 } });
    for (const [later, status] of [
      [0, 403],
      [15 * 60_000, 403],
      [1, 201],
    ] as const) {
      site.clock.now += later;
      expect((await site.create()).status).toBe(status);
    }
    expect(await site.images.usage("anna")).toEqual({ images: 1, bytes: SIZE });
  });

  test("quota is released once, even if the record was written while the store reported a failure", async () => {
    const kept = createMemoryBlobStore();
    let isBroken = false;
    const tapped = tapStore(kept, ({ method, key }) => {
      if (isBroken && method === "delete" && key.endsWith("/record"))
        throw new ServiceError("store_unavailable", "No answer.");
    });
    const store: typeof tapped = {
      ...tapped,
      async put(key, body, options) {
        const info = await tapped.put(key, body, options);
        if (isBroken && key.endsWith("/record")) throw new ServiceError("store_unavailable", "No answer.");
        return info;
      },
    };
    const { site } = ownedSite({ store });
    const long = { search: "expiresAt=2026-03-09T00:00:00.000Z" };
    await site.create(long);
    isBroken = true;
    expect((await site.create()).status).toBe(503);
    isBroken = false;
    await site.create(long);
    site.clock.now += DAY;
    expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
    await site.create(long);
    expect(await site.images.usage("anna")).toEqual({ images: 3, bytes: 3 * SIZE });
  });
});

test("a create repeated with its Idempotency-Key takes no quota, even at the limit", async () => {
  const { site } = ownedSite({ ownerLimits: { images: 1 } });
  const headers = { "idempotency-key": "a" };
  const first = await site.create({ headers });
  expect((await site.create({ headers })).json).toEqual(first.json);
  expect(await site.images.usage("anna")).toEqual({ images: 1, bytes: SIZE });
  // After a rejection for lack of quota, the key can be used again.
  const second = { headers: { "idempotency-key": "b" } };
  expect((await site.create(second)).status).toBe(403);
  await site.images.remove(String(first.json.id));
  expect((await site.create(second)).status).toBe(201);
});
