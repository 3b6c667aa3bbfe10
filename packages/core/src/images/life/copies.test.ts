import { createHash } from "node:crypto";
import { acceptAll, cleanedTo, createFakeRenderer, type FakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { backupStorage } from "../../../../ops/src/backup.ts";
import { migrateStorage } from "../../../../ops/src/migrate.ts";
import { PNG } from "../../../test/calls.ts";
import {
  bytesAt,
  created,
  eventually,
  type ImageSite,
  keysOf,
  storedRecord,
} from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, readsOf, STORES, statusesOf } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const CLEAN = Buffer.from("a clean picture");
const OTHER = Buffer.concat([PNG, Buffer.from("other")]);
const COURT = { reason: "By order of the court.", copies: true };
const KEY = { "idempotency-key": "8e03978e-40d5" };

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const cleaning: FakeRenderer["answer"] = (admitting) =>
  void cleanedTo(admitting, CLEAN).then(admitting.accept);

function cleaningSite(options: Parameters<typeof createLifeSite>[0] = {}): ImageSite {
  return createLifeSite({ renderer: createFakeRenderer(cleaning), ...options });
}

/** The key of a denial. */
const deniedKey = (bytes: Buffer) => hashOf(bytes).replace(/^.../, "denied/$&/");

async function entriesOf(store: BlobStore): Promise<string[]> {
  return (await store.list("copies/")).keys;
}

/** The status of an upload, and its detail. */
async function uploadOf(site: ImageSite, file = PNG): Promise<unknown[]> {
  const { status, json } = await site.create({ file });
  return status < 300 ? [status] : [status, json.detail];
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("withhold with copies withholds every image of the same bytes, before or after cleaning, on all processes", async () => {
    const site = createLifeSite({ store: createStore() });
    const cleaner = cleaningSite({ store: site.store, clock: site.clock });
    const [plain, same, cleaned] = [
      created(await site.create()),
      created(await site.create()),
      created(await cleaner.create()),
    ];
    // Its original has the bytes of the cleaned one, which were never uploaded.
    const reborn = created(await cleaner.create({ file: OTHER }));
    const unlike = created(await site.create({ file: OTHER }));
    expect(await storedRecord(site.store, cleaned.id)).toMatchObject({
      sha256: hashOf(CLEAN),
      sourceSha256: hashOf(PNG),
    });
    await site.images.withhold(cleaned.id, COURT);
    const other = anotherProcess(site);
    for (const { id } of [plain, same, cleaned, reborn]) {
      expect(await statusesOf(other, readsOf(id)), id).toEqual([451]);
    }
    expect((await other.send("GET", `/${unlike.id}`)).status).toBe(200);
    expect(await uploadOf(other)).toEqual([451, COURT.reason]);
  });

  test("denied bytes are refused before the renderer works, with 403, or 451 for a legal reason, until they are allowed", async () => {
    const site = createLifeSite({ store: createStore() });
    await site.images.deny({ sha256: hashOf(PNG).toUpperCase(), reason: "Known abuse." });
    let admissions = 0;
    site.renderer.answer = (admitting) => {
      admissions++;
      acceptAll(admitting);
    };
    const other = anotherProcess(site);
    expect(await uploadOf(other)).toEqual([403, "Known abuse."]);
    expect(await uploadOf(site)).toEqual([403, "Known abuse."]);
    await site.images.deny({ sha256: hashOf(PNG), reason: "By law.", isLegal: true });
    expect(await uploadOf(site)).toEqual([451, "By law."]);
    await expect(site.images.add(PNG)).rejects.toMatchObject({ code: "withheld", message: "By law." });
    const listed: unknown[] = [];
    for await (const denial of other.images.denials()) listed.push(denial);
    expect(listed).toEqual([{ sha256: hashOf(PNG), reason: "By law.", isLegal: true, at: site.clock.now }]);
    expect([admissions, await keysOf(site.store)]).toEqual([0, [deniedKey(PNG)]]);
    await other.images.allow({ sha256: hashOf(PNG) });
    expect(await uploadOf(site)).toEqual([201]);
  });

  test("bytes that are denied after cleaning are refused, and leave nothing", async () => {
    const site = cleaningSite({ store: createStore() });
    await site.images.deny({ sha256: hashOf(CLEAN), reason: "Known abuse." });
    expect(await uploadOf(site)).toEqual([403, "Known abuse."]);
    expect(await keysOf(site.store)).toEqual([deniedKey(CLEAN)]);
    expect(await entriesOf(site.store)).toEqual([]);
    const later = cleaningSite({ store: site.store, clock: site.clock, asyncAfterMs: 0 });
    const { id } = created(await later.create());
    await eventually(async () =>
      expect((await later.send("GET", `/${id}`)).json).toMatchObject({
        status: 404,
        detail: "Known abuse.",
      }),
    );
    await eventually(async () => expect(await bytesAt(site.store, `${id}/upload`)).toBeNull());
    expect(await bytesAt(site.store, `${id}/original`)).toBeNull();
  });

  test("an image is in the index of copies until it ends, by deletion, expiry or rejection", async () => {
    const site = cleaningSite({ store: createStore() });
    const { id } = created(await site.create());
    expect(await entriesOf(site.store)).toHaveLength(2);
    await site.images.remove(id);
    expect(await entriesOf(site.store)).toEqual([]);
    expect(await storedRecord(site.store, id)).not.toHaveProperty("sourceSha256");
    await site.create();
    site.clock.now += DAY;
    await site.images.sweep();
    expect(await entriesOf(site.store)).toEqual([]);
    const held = cleaningSite({ store: site.store, clock: site.clock, inspect: () => "hold" });
    await held.images.refuse(created(await held.create()).id, "No.");
    site.clock.now += 2 * DAY;
    await site.images.sweep();
    expect(await entriesOf(site.store)).toEqual([]);
  });
});

test("an upload that was checked before a takedown of all copies and stored after it does not escape", async () => {
  const store = createMemoryBlobStore();
  const site = createLifeSite({ store });
  const { id } = created(await site.create());
  let isDone = false;
  const tapped = tapStore(store, async ({ method, key }) => {
    if (isDone || method !== "put" || !key.endsWith("/record")) return;
    isDone = true;
    await site.images.withhold(id, COURT);
  });
  const racing = createLifeSite({ store: tapped, clock: site.clock });
  expect(await uploadOf(racing)).toEqual([451, COURT.reason]);
  expect(isDone).toBe(true);
  expect((await keysOf(store)).filter((key) => key.endsWith("/record"))).toEqual([`${id}/record`]);
});

test("an upload in the background that passes its check before a takedown of all copies is withheld or refused", async () => {
  const store = createMemoryBlobStore();
  const site = cleaningSite({ store });
  const { id } = created(await site.create({ file: OTHER }));
  let isDone = false;
  const tapped = tapStore(store, async ({ method, key }) => {
    if (isDone || method !== "put" || !key.endsWith("/original")) return;
    isDone = true;
    await site.images.withhold(id, COURT);
  });
  const racing = cleaningSite({ store: tapped, clock: site.clock, asyncAfterMs: 0 });
  const copy = created(await racing.create());
  await eventually(() => expect(isDone).toBe(true));
  await eventually(async () =>
    expect([404, 451]).toContain((await site.send("GET", `/api/images/${copy.id}.png`)).status),
  );
});

test("a retry with the idempotency key of an upload, its ticket and its form are refused once its bytes are denied", async () => {
  const site = createLifeSite();
  const { url } = await site.images.ticket({ expiresIn: "1h" });
  const search = new URL(url, "https://x.example").search.slice(1);
  expect((await site.create({ headers: KEY })).status).toBe(201);
  expect((await site.create({ search })).status).toBe(201);
  await site.images.deny({ sha256: hashOf(PNG), reason: "Known abuse." });
  expect((await site.create({ headers: KEY })).status).toBe(403);
  expect((await site.create({ search })).status).toBe(403);
});

test("a copy that is withheld already keeps its reason", async () => {
  const site = createLifeSite();
  const [first, second] = [created(await site.create()), created(await site.create())];
  await site.images.withhold(second.id, { reason: "An older order." });
  await site.images.withhold(first.id, COURT);
  expect((await site.send("GET", `/${second.id}`)).json.detail).toBe("An older order.");
});

test("deny and allow reject what is no SHA-256, and a reason without text", async () => {
  const { images } = createLifeSite();
  const sha256 = hashOf(PNG);
  await expect(images.deny({ sha256: "abc", reason: "No." })).rejects.toThrow(
    /sha256 must be a SHA-256 of 64 hex digits/,
  );
  await expect(images.deny({ sha256, reason: " " })).rejects.toThrow(/reason must be/);
  await expect(images.allow({ sha256: "../identity" })).rejects.toThrow(TypeError);
  await expect(images.withhold("A".repeat(22), COURT)).rejects.toMatchObject({ code: "not_found" });
});

test("a damaged entry of the deny list still refuses, and one of a newer release answers 503", async () => {
  const site = createLifeSite();
  const key = deniedKey(PNG);
  await site.store.put(key, Buffer.from("garbage"));
  expect(await uploadOf(site)).toEqual([403, "This file is not accepted here."]);
  await site.store.put(key, Buffer.from(JSON.stringify({ v: 2 })));
  expect((await site.create()).status).toBe(503);
});

test("a migration and a backup keep the deny list and the index of copies", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  await site.images.deny({ sha256: hashOf(OTHER), reason: "Known abuse." });
  const [to, backup] = [createMemoryBlobStore(), createMemoryBlobStore()];
  await migrateStorage({ from: site.store, to, source: "test" });
  await backupStorage({ from: site.store, to: backup, source: "test" });
  const moved = createLifeSite({ store: to, clock: site.clock });
  expect(await uploadOf(moved, OTHER)).toEqual([403, "Known abuse."]);
  const copy = created(await moved.create());
  await moved.images.withhold(copy.id, COURT);
  expect((await moved.send("GET", `/${id}`)).status).toBe(451);
  expect((await backup.list("denied/")).keys).toHaveLength(1);
});
