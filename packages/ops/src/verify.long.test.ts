import { describe, expect, test } from "vitest";
import { ServiceError } from "../../core/src/errors.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { PNG } from "../../core/test/calls.ts";
import { created, keysOf, storedRecord } from "../../core/test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, MINUTE, STORES } from "../../core/test/life-site.ts";
import { tapStore } from "../../core/test/tapped-store.ts";
import { damageEverything, problemsOf, verified } from "../test/verify-site.ts";

const LATER = { headers: { prefer: "respond-async" } };

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a verification of images in every state finds no defect", async () => {
    const site = createLifeSite({ store: createStore(), authorize: () => ({ owner: "anna" }) });
    const expiring = { search: "expiresAt=2026-03-01T12:30:00.000Z" };
    await site.create(expiring);
    await site.images.remove(created(await site.create()).id);
    await site.images.withhold(created(await site.create()).id, { reason: "Case 4711" });
    const { id } = created(await site.create());
    await site.send("GET", `/api/images/${id}.jpg`);
    const asleep = anotherProcess(site, { processUploads: false, authorize: () => ({ owner: "anna" }) });
    expect((await asleep.create(LATER)).status).toBe(202);
    const whole = { defects: 0, repaired: 0, newer: 0, unrestorable: 0, orphans: 0, undecided: 0 };
    expect((await verified(site)).report).toEqual({ images: 5, intact: 4, bytes: 4 * PNG.length, ...whole });
    site.clock.now += 20 * MINUTE;
    expect((await verified(site)).report).toMatchObject({ images: 5, ...whole });
    site.clock.now += 40 * DAY;
    await site.images.sweep();
    expect((await verified(site)).report).toMatchObject({ images: 0, ...whole });
  });

  test("a verification finds, names and counts every kind of damage", async () => {
    const site = createLifeSite({ store: createStore(), authorize: () => ({ owner: "anna" }) });
    const whole = created(await site.create()).id;
    const expected = await damageEverything(site);
    const [usage = ""] = (await keysOf(site.store)).filter((key) => key.startsWith("usage/"));
    await site.store.put(usage, Buffer.from('{"images":'));
    const found = await verified(site);
    expect(problemsOf(found)).toEqual({ ...expected, [usage]: "damaged-usage" });
    expect(found.report).toMatchObject({ images: 6, defects: 9, repaired: 0, newer: 0 });
    for (const { key, id, detail } of found.findings) {
      expect(id).toBe(/^(?:usage|idempotency)\//.test(key) ? null : key.split("/")[0]);
      expect(detail).toMatch(/\w/);
    }
    expect(found.findings.find(({ what }) => what === "wrong-size")?.detail).toBe(
      `the original has 12 bytes, expected ${PNG.length}`,
    );
    expect((await site.send("GET", `/api/images/${whole}.png`)).status).toBe(200);
  });

  test("bytes stored after the deletion of their image are found an hour later, and removed by a repair", async () => {
    const site = createLifeSite({ store: createStore() });
    const { id } = created(await site.create());
    const kept = created(await site.create()).id;
    await site.send("GET", `/api/images/${kept}.jpg`);
    await site.images.remove(id);
    const late = [`${id}/original`, `${id}/renditions/x.webp`];
    for (const key of late) await site.store.put(key, PNG);
    site.clock.now += 59 * MINUTE;
    expect((await verified(site)).findings).toEqual([]);
    site.clock.now += MINUTE;
    const found = (what: string) => Object.fromEntries(late.map((key) => [key, what]));
    expect(problemsOf(await verified(site))).toEqual(found("ended-bytes"));
    const repaired = await verified(site, { repair: true });
    expect(problemsOf(repaired)).toEqual(found("ended-bytes removed"));
    expect(repaired.report).toMatchObject({ defects: 2, repaired: 2, unrestorable: 0, orphans: 0 });
    const keys = await keysOf(site.store);
    expect(keys.filter((key) => key.startsWith(`${id}/`))).toEqual([`${id}/record`]);
    expect(keys.filter((key) => key.startsWith(`${kept}/renditions/`))).toHaveLength(1);
  });

  test("concurrent uploads, edits, deletions and renders are not findings", async () => {
    const site = createLifeSite({ store: createStore(), tombstoneDays: 0 });
    const other = anotherProcess(site, { tombstoneDays: 0 });
    let isOver = false;
    const live = async (each: typeof site, index: number) => {
      while (!isOver) {
        const { id, pin } = created(await each.create(index % 2 === 0 ? LATER : {}));
        await each.send("GET", `/api/images/${id}.jpg`);
        await each.send("PATCH", `/api/images/${id}.json`, { search: `pin=${pin}&name=new` });
        await each.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` });
        if (index === 0) await each.images.sweep();
      }
    };
    const work = [site, other, site, other].map(live);
    for (let run = 0; run < 3; run++) {
      const { report, findings } = await verified(site, { concurrency: 8 });
      expect([report.defects, findings]).toEqual([0, []]);
    }
    isOver = true;
    await Promise.all(work);
    expect([...site.errors, ...other.errors]).toEqual([]);
  });
});

test("an image deleted between two checks is not a finding", async () => {
  const kept = createMemoryBlobStore();
  const site = createLifeSite({ store: kept });
  const { id } = created(await site.create());
  let looks = 0;
  const storage = tapStore(kept, async ({ method, key }) => {
    if (method === "stat" && key === `${id}/original` && looks++ === 0) await site.images.remove(id);
  });
  expect((await verified(site, { storage })).findings).toEqual([]);
  expect(looks).toBeGreaterThan(0);
});

test("bytes without a record are reported as orphaned only after their upload cannot be in progress", async () => {
  const site = createLifeSite();
  const id = "a".repeat(22);
  await site.store.put(
    `due-images/${(site.clock.now + 15 * MINUTE).toString(36).padStart(9, "0")}.${id}`,
    Buffer.alloc(0),
  );
  await site.store.put(`${id}/original`, PNG);
  expect((await verified(site)).findings).toEqual([]);
  site.clock.now += 15 * MINUTE;
  expect(problemsOf(await verified(site))).toEqual({ [`${id}/original`]: "orphaned-bytes" });
  expect(problemsOf(await verified(site, { repair: true }))).toEqual({
    [`${id}/original`]: "orphaned-bytes removed",
  });
});

test("originals without a record are undecided if more images are due than can be listed", async () => {
  const site = createLifeSite();
  for (let index = 0; index < 1000; index++) {
    const name = `${site.clock.now.toString(36).padStart(9, "0")}.image${index}`;
    await site.store.put(`due-images/${name}`, Buffer.alloc(0));
  }
  await site.store.put(`${"a".repeat(22)}/original`, PNG);
  const { findings, report } = await verified(site, { repair: true });
  expect([findings, report.undecided]).toEqual([[], 1]);
});

test("a record of a newer version is reported as newer, not as a defect", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  const record = { ...(await storedRecord(site.store, id)), v: 99 };
  await site.store.put(`${id}/record`, Buffer.from(JSON.stringify(record)));
  const found = await verified(site, { repair: true });
  expect(problemsOf(found)).toEqual({ [`${id}/record`]: "newer" });
  expect(found.report).toMatchObject({ defects: 0, newer: 1 });
  expect(await storedRecord(site.store, id)).toEqual(record);
});

test("a key that the store cannot read is a finding, and an unavailable store rejects the verification", async () => {
  const kept = createMemoryBlobStore();
  const site = createLifeSite({ store: kept });
  const { id } = created(await site.create());
  await site.create();
  let isAway = false;
  const storage = tapStore(kept, ({ method, key }) => {
    if (isAway || (method === "get" && key === `${id}/original`))
      throw new ServiceError("store_unavailable", "Input/output error");
  });
  const found = await verified(site, { storage, patienceMs: 10_000 });
  expect(problemsOf(found)).toEqual({ [`${id}/record`]: "unreadable" });
  expect(found.findings[0]).toMatchObject({ id, detail: "its store cannot read it: Input/output error" });
  isAway = true;
  await expect(verified(site, { storage })).rejects.toMatchObject({ code: "store_unavailable" });
});

test("originals are read at most at maxBytesPerSecond", async () => {
  const site = createLifeSite();
  for (let count = 0; count < 5; count++) await site.create();
  const began = performance.now();
  const { report } = await verified(site, { maxBytesPerSecond: PNG.length * 10 });
  expect(report.bytes).toBe(5 * PNG.length);
  expect(performance.now() - began).toBeGreaterThan(400);
});
