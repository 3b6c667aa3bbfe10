import { describe, expect, test } from "vitest";
import { backupStorage } from "../../../../ops/src/backup.ts";
import { migrateStorage } from "../../../../ops/src/migrate.ts";
import { restoreStorage } from "../../../../ops/src/restore.ts";
import { verifyStorage } from "../../../../ops/src/verification.ts";
import { type CallOptions, PNG } from "../../../test/calls.ts";
import {
  bytesAt,
  created,
  type ImageSite,
  type SiteOptions,
  storedRecord,
} from "../../../test/image-site.ts";
import {
  anotherProcess,
  createLifeSite,
  DAY,
  entriesOf,
  HOUR,
  readsOf,
  STORES,
  statusesOf,
  tracesOf,
} from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const YEARS_MS = 3000 * 365 * DAY;
const NEVER = { uploadFields: { expiresAt: "never" } };

/** A service that permits every lifetime, with an image that never expires. */
async function siteWithImage(options: SiteOptions = {}) {
  const site = createLifeSite({ maxLifetimeMs: null, ...options });
  return { site, ...created(await site.create(NEVER)) };
}

function patch(site: ImageSite, id: string, pin: string, options: CallOptions) {
  const headers = { ...options.headers, "x-service-image-pin": pin };
  return site.send("PATCH", `/api/images/${id}.json`, { ...options, headers });
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("an image without an expiry is served for ever on every process, without Sunset, and with no entry in the due list", async () => {
    const { site, id } = await siteWithImage({ store: createStore() });
    expect(await storedRecord(site.store, id)).toMatchObject({ v: 1, expiresAt: null });
    expect(await entriesOf(site.store)).toEqual([]);
    const other = anotherProcess(site);
    for (const each of [site, other]) {
      for (const { method, path, headers } of readsOf(id)) {
        const answer = await each.send(method, path, { headers });
        expect([path, [200, 206, 304].includes(answer.status)]).toEqual([path, true]);
        expect([path, answer.headers.Sunset]).toEqual([path, undefined]);
      }
    }
    const bytes = await site.send("GET", `/api/images/${id}.png`);
    expect(bytes.headers["Cache-Control"]).toBe("public, max-age=300, must-revalidate, no-transform");
    site.clock.now += YEARS_MS;
    await site.images.sweep();
    expect(await statusesOf(site, readsOf(id))).toEqual([200, 206, 304]);
    expect([...site.errors, ...other.errors]).toEqual([]);
  });

  test("an expiry is removed and set again by PATCH, and each sweep leaves the due entry of the present one", async () => {
    const site = createLifeSite({ maxLifetimeMs: null, store: createStore() });
    const { id, pin } = created(await site.create());
    const sweepAfter = async (ms: number) => {
      site.clock.now += ms;
      await site.images.sweep();
      return (await entriesOf(site.store)).map(({ dueMs }) => dueMs - site.clock.now);
    };
    expect(await storedRecord(site.store, id)).toMatchObject({ v: 1 });
    expect(await sweepAfter(HOUR)).toEqual([23 * HOUR]);
    const never = await patch(site, id, pin, { fields: { expiresAt: null } });
    expect(never).toMatchObject({ status: 200, json: { expiresAt: null } });
    expect(never.headers.Sunset).toBeUndefined();
    expect(await storedRecord(site.store, id)).toMatchObject({ v: 1 });
    expect(await sweepAfter(400 * DAY)).toEqual([]);
    const dated = await patch(site, id, pin, { fields: { expiresAt: site.clock.now + DAY } });
    expect(dated.headers.Sunset).toBe(new Date(site.clock.now + DAY).toUTCString());
    expect(await storedRecord(site.store, id)).toMatchObject({ v: 1 });
    expect(await sweepAfter(HOUR)).toEqual([23 * HOUR]);
    expect(await sweepAfter(DAY)).toHaveLength(1);
    expect(await statusesOf(site, readsOf(id))).toEqual([410]);
    expect(await sweepAfter(31 * DAY)).toEqual([]);
    expect(await tracesOf(site.store, id)).toEqual([]);
    expect(site.errors).toEqual([]);
  });

  test("an image without an expiry ends by deletion and by deleteAfter, with its tombstone and all of its traces", async () => {
    const { site, id, pin } = await siteWithImage({ store: createStore() });
    const withheld = created(await site.create(NEVER)).id;
    const blocked = created(await site.create(NEVER)).id;
    await site.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` });
    const deleteAfter = new Date(site.clock.now + DAY);
    await site.images.withhold(withheld, { reason: "A court order", deleteAfter });
    await site.images.withhold(blocked, { reason: "A court order" });
    expect(await entriesOf(site.store)).toContainEqual({ id: withheld, dueMs: Number(deleteAfter) });
    expect(await statusesOf(site, readsOf(id))).toEqual([410]);
    expect(await statusesOf(site, readsOf(withheld))).toEqual([451]);
    site.clock.now += DAY;
    await site.images.sweep();
    expect(await statusesOf(site, readsOf(withheld))).toEqual([404]);
    site.clock.now += 31 * DAY;
    await site.images.sweep();
    for (const gone of [id, withheld]) expect(await tracesOf(site.store, gone)).toEqual([]);
    expect(await statusesOf(site, readsOf(blocked))).toEqual([451]);
    await site.images.release(blocked);
    expect(await statusesOf(site, readsOf(blocked))).toEqual([200, 206, 304]);
    expect(await entriesOf(site.store)).toEqual([]);
  });
});

const BOUND = "at most 365 days from now";
const asked: [string, CallOptions][] = [
  ["a form field", NEVER],
  ["a form field with spaces", { uploadFields: { expiresAt: " never\n" } }],
  ["the query", { search: "expiresAt=never" }],
  ["JSON with an URL", { fields: { url: "https://pictures.example/a.png", expiresAt: "never" } }],
  ["JSON null with an URL", { fields: { url: "https://pictures.example/a.png", expiresAt: null } }],
];

test.each(asked)(
  "an upload that asks for no expiry by %s gets 400 with the bound where lifetimes are limited, and nothing is stored",
  async (_how, options) => {
    const site = createLifeSite({ importUrls: true });
    const answer = await site.create(options);
    expect([answer.status, answer.json.detail]).toEqual([400, `expiresAt must be a date ${BOUND}`]);
    expect((await site.store.list("")).keys.filter((key) => key.endsWith("/record"))).toEqual([]);
  },
);

test.each(asked.slice(0, 3))(
  "an upload that asks for no expiry by %s gets it where the host set no longest lifetime",
  async (_how, options) => {
    const answer = await createLifeSite({ maxLifetimeMs: null }).create(options);
    expect(answer).toMatchObject({ status: 201, json: { expiresAt: null } });
  },
);

test("PATCH that removes an expiry gets 400 with the bound and changes nothing where lifetimes are limited", async () => {
  for (const options of [
    { fields: { expiresAt: null } },
    { fields: { expiresAt: "never" } },
    { search: "expiresAt=never" },
    { fields: { name: "another", expiresAt: null } },
  ]) {
    const site = createLifeSite();
    const { id, pin } = created(await site.create());
    const before = await bytesAt(site.store, `${id}/record`);
    const answer = await patch(site, id, pin, options);
    expect([answer.status, answer.json.detail]).toEqual([400, `expiresAt must be a date ${BOUND}`]);
    expect(await bytesAt(site.store, `${id}/record`)).toEqual(before);
  }
});

test("a text that resembles never is no expiry, and the 400 names the text that is one", async () => {
  for (const expiresAt of ["NEVER", "null", "none", "0", "neverever"]) {
    const answer = await createLifeSite({ maxLifetimeMs: null }).create({ search: `expiresAt=${expiresAt}` });
    expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining('or "never"')]);
  }
});

test("an empty or absent expiry is the default, which the host may set to never", async () => {
  const dayLater = new Date(createLifeSite().clock.now + DAY).toISOString();
  const yearLater = new Date(createLifeSite().clock.now + 365 * DAY).toISOString();
  for (const options of [{}, { uploadFields: { expiresAt: "" } }, { search: "expiresAt=" }]) {
    const expiryWith = async (site: SiteOptions) =>
      (await createLifeSite(site).create(options)).json.expiresAt;
    expect(await expiryWith({ maxLifetimeMs: null })).toBe(dayLater);
    expect(await expiryWith({ maxLifetimeMs: null, defaultLifetimeMs: null })).toBe(null);
    // Over HTTP the longest lifetime limits this default too.
    expect(await expiryWith({ defaultLifetimeMs: null })).toBe(yearLater);
  }
  const { images } = createLifeSite({ defaultLifetimeMs: null });
  expect(await images.add(PNG)).toMatchObject({ expiresAt: null });
  expect(await images.add(PNG, { expiresAt: undefined })).toMatchObject({ expiresAt: null });
});

test("in code an image is kept for ever whatever the limit, and gets an expiry and loses it again", async () => {
  const { images, clock, store } = createLifeSite();
  const { id } = await images.add(PNG, { expiresAt: null });
  expect(await images.find(id)).toMatchObject({ expiresAt: null });
  const expiresAt = clock.now + DAY;
  expect(await images.edit(id, { name: "kept" })).toMatchObject({ name: "kept", expiresAt: null });
  expect(await images.edit(id, { expiresAt })).toMatchObject({
    expiresAt: new Date(expiresAt).toISOString(),
  });
  expect(await images.edit(id, { expiresAt: null })).toMatchObject({ expiresAt: null });
  expect(await images.edit(id, { expiresAt: undefined, name: "kept again" })).toMatchObject({
    expiresAt: null,
  });
  for await (const image of images.list())
    expect(image).toMatchObject({ id, state: "ready", expiresAt: null });
  clock.now += YEARS_MS;
  await images.sweep();
  expect(await images.find(id)).toMatchObject({ name: "kept again" });
  expect(await storedRecord(store, id)).toMatchObject({ v: 1 });
});

test("without a longest lifetime any date is accepted, also one beyond the times of a due list", async () => {
  const site = createLifeSite({ maxLifetimeMs: null });
  for (const expiresAt of ["9999-12-31T23:59:59.999Z", "8640000000000000"]) {
    const { id, pin } = created(await site.create({ uploadFields: { expiresAt } }));
    site.clock.now += HOUR;
    await site.images.sweep();
    expect((await entriesOf(site.store)).filter((entry) => entry.id === id)).toHaveLength(1);
    expect((await site.send("GET", `/api/images/${id}.png`)).headers.Sunset).toMatch(/GMT$/);
    expect((await patch(site, id, pin, { fields: { expiresAt: null } })).status).toBe(200);
    expect((await patch(site, id, pin, { fields: { expiresAt: 8.64e15 } })).status).toBe(200);
    await site.images.remove(id);
    site.clock.now += 31 * DAY;
    await site.images.sweep();
    expect(await tracesOf(site.store, id)).toEqual([]);
  }
  expect(site.errors).toEqual([]);
});

/** A store after the service on it has closed, with an image of each kind. */
async function stocked(): Promise<{ store: BlobStore; kept: string; dated: string; now: number }> {
  const { site, id: kept } = await siteWithImage({ clock: { now: Date.now() } });
  const { id: dated } = created(await site.create());
  return { store: site.store, kept, dated, now: site.clock.now };
}

test("migration, backup and restore keep an image without an expiry, without a due entry, and verify finds it whole", async () => {
  const { store, kept, dated, now } = await stocked();
  const migrated = createMemoryBlobStore();
  expect(await migrateStorage({ from: store, to: migrated, source: "test" })).toMatchObject({ damaged: [] });
  const backup = createMemoryBlobStore();
  await backupStorage({ from: store, to: backup, source: "test", patienceMs: 3000 });
  const restored = createMemoryBlobStore();
  await restoreStorage({ from: backup, to: restored });
  for (const target of [migrated, restored]) {
    expect(await bytesAt(target, `${kept}/record`)).toEqual(await bytesAt(store, `${kept}/record`));
    const site = createLifeSite({ store: target, clock: { now: now + HOUR } });
    await site.images.sweep();
    expect((await entriesOf(target)).map(({ id }) => id)).toEqual([dated]);
    site.clock.now += YEARS_MS;
    await site.images.sweep();
    expect(await statusesOf(site, readsOf(kept))).toEqual([200, 206, 304]);
    expect(await verifyStorage({ storage: target })).toMatchObject({ images: 1, defects: 0, newer: 0 });
  }
});

test.each([
  ["that said so", null, DAY],
  ["where the host set no longest lifetime", 1, null],
])(
  "a damaged record of an image without an expiry, %s, can be withheld for ever",
  async (_what, expiresAt, maxLifetimeMs) => {
    const site = createLifeSite({ maxLifetimeMs });
    const { id } = await site.images.add(PNG, { expiresAt: null });
    const damaged = { ...(await storedRecord(site.store, id)), expiresAt, size: "unreadable" };
    await site.store.put(`${id}/record`, Buffer.from(JSON.stringify(damaged)));
    expect(await statusesOf(site, readsOf(id))).toEqual([500]);
    await site.images.withhold(id, { reason: "A court order" });
    site.clock.now += YEARS_MS;
    await site.images.sweep();
    expect(await statusesOf(site, readsOf(id))).toEqual([451]);
    expect(await site.store.stat(`${id}/original`)).not.toBeNull();
  },
);
