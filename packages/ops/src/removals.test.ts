import { describe, expect, test } from "vitest";
import type { StorageRoles } from "../../core/src/contracts/blob-store.ts";
import { ServiceError } from "../../core/src/errors.ts";
import { createImageAdmin } from "../../core/src/images/life/image-admin.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { PNG } from "../../core/test/calls.ts";
import { created, type ImageSite, keysOf, storedRecord } from "../../core/test/image-site.ts";
import { DAY } from "../../core/test/life-site.ts";
import { tapStore } from "../../core/test/tapped-store.ts";
import { type Divided, divided, lose, statusOf, stockedSite, unclosed } from "../test/divided-site.ts";
import { copyOf, problemsOf, verified } from "../test/verify-site.ts";
import { backupStorage } from "./backup.ts";
import { migrateStorage } from "./migrate.ts";
import { restoreStorage } from "./restore.ts";
import type { PlannedRemovals } from "./verify-options.ts";

describe("against stores that do not belong together", () => {
  test.each<[string, (home: Divided) => Promise<StorageRoles>]>([
    ["records that are empty", async ({ storage }) => ({ ...storage, records: createMemoryBlobStore() })],
    [
      "records of another service",
      async ({ storage }) => ({ ...storage, records: (await divided(2)).storage.records }),
    ],
    ["originals that are empty", async ({ storage }) => ({ ...storage, originals: createMemoryBlobStore() })],
    [
      "originals of another service",
      async ({ storage }) => ({ ...storage, originals: (await divided(2)).storage.originals }),
    ],
  ])("a repair, a sweep, a migration and a backup reject %s and delete nothing", async (what, wrongOf) => {
    const home = await divided(6);
    const wrong = await wrongOf(home);
    const before = await Promise.all(Object.values(wrong).map(keysOf));
    const refused = { code: "store_unavailable" };
    for (const maxRemovals of what === "originals that are empty" ? [undefined] : [undefined, 0, 1000]) {
      await expect(verified(home.site, { storage: wrong, repair: true, maxRemovals })).rejects.toMatchObject(
        refused,
      );
    }
    const admin = createImageAdmin({ storage: unclosed(wrong), now: () => Date.now() + 3 * DAY });
    await expect(admin.sweep()).rejects.toMatchObject(refused);
    await expect(
      migrateStorage({ from: wrong, to: createMemoryBlobStore(), source: "test" }),
    ).rejects.toMatchObject(refused);
    await expect(
      backupStorage({ from: wrong, to: createMemoryBlobStore(), source: "test" }),
    ).rejects.toMatchObject(refused);
    const after = await Promise.all(Object.values(wrong).map(keysOf));
    const isKept = (keys: string[]) => keys.filter((key) => !key.startsWith("due-"));
    expect(after.map(isKept)).toEqual(before.map(isKept));
    for (const id of home.ids) expect(await statusOf(home.site, id)).toBe(200);
  });

  test("a repair rejects one store without an identity, and a verification only reads it", async () => {
    const { site, ids } = await stockedSite(2);
    await site.store.delete("identity");
    await site.store.delete(`${ids[0]}/record`);
    const before = await keysOf(site.store);
    await expect(verified(site, { repair: true })).rejects.toThrow("The records have no identity");
    const later = () => Date.now() + DAY;
    expect(problemsOf(await verified(site, {}, later))).toEqual({ [`${ids[0]}/original`]: "orphaned-bytes" });
    expect(await keysOf(site.store)).toEqual(before);
  });
});

describe("a repair that would remove many images or originals", () => {
  test.each([
    ["originals are missing", (site: ImageSite, ids: string[]) => lose(site.store, ids)],
    [
      "records are missing",
      async (site: ImageSite, ids: string[]) => {
        for (const id of ids) await site.store.delete(`${id}/record`);
      },
    ],
    [
      "records are damaged",
      async (site: ImageSite, ids: string[]) => {
        for (const id of ids) await site.store.put(`${id}/record`, Buffer.from("{"));
      },
    ],
  ])("because %s removes nothing, says how many, and removes them with that number", async (_why, damage) => {
    const { site, ids } = await stockedSite(6);
    await damage(site, ids.slice(0, 4));
    site.clock.now += 16 * 60_000;
    const before = await keysOf(site.store);
    const planned: PlannedRemovals[] = [];
    const onRemovals = (removals: PlannedRemovals) => planned.push({ ...removals });
    const stopped = await verified(site, { repair: true, onRemovals });
    expect(stopped.report).toMatchObject({ defects: 4, repaired: 0, unrestorable: 4 });
    expect(stopped.findings.map(({ repair }) => repair)).toEqual([null, null, null, null]);
    expect(await keysOf(site.store)).toEqual(before);
    const allowed = await verified(site, { repair: true, maxRemovals: 4, onRemovals });
    expect(allowed.report).toMatchObject({ defects: 4, repaired: 4 });
    const share = { removals: 4, of: 6 };
    expect(planned).toEqual([
      { ...share, most: 3, isAllowed: false },
      { ...share, most: 4, isAllowed: true },
    ]);
    expect((await verified(site)).report).toMatchObject({ defects: 0, unrestorable: 0 });
    for (const id of ids.slice(4)) expect(await statusOf(site, id)).toBe(200);
  });

  test("keeps the renditions of images without a record", async () => {
    const { site, ids } = await stockedSite(6);
    const lost = ids.slice(0, 4);
    for (const id of lost) {
      await site.store.put(`${id}/renditions/x.webp`, Buffer.from("drawn"));
      await site.store.delete(`${id}/record`);
    }
    site.clock.now += 16 * 60_000;
    const before = await keysOf(site.store);
    expect((await verified(site, { repair: true })).report).toMatchObject({ defects: 8, repaired: 0 });
    expect(await keysOf(site.store)).toEqual(before);
  });

  test("restores what the backup has before it counts, and removes a few without a number", async () => {
    const { site, ids } = await stockedSite(5);
    const backup = await copyOf(site.store, createMemoryBlobStore());
    const later = created(await site.create()).id;
    await lose(site.store, [...ids, later]);
    const { report } = await verified(site, { repair: true, backup });
    expect(report).toMatchObject({ defects: 6, repaired: 6, unrestorable: 1 });
    for (const id of ids) expect(await statusOf(site, id)).toBe(200);
    expect(await statusOf(site, later)).toBe(410);
  });

  test("removes nothing that came back since it was checked", async () => {
    const { site, ids } = await stockedSite(3);
    const [id = ""] = ids;
    await lose(site.store, [id]);
    const onRemovals = () => site.store.put(`${id}/original`, PNG);
    expect(problemsOf(await verified(site, { repair: true, onRemovals }))).toEqual({});
    expect(await statusOf(site, id)).toBe(200);
  });
});

describe("an image that a repair ended for want of bytes", () => {
  async function ended() {
    const { site, ids } = await stockedSite(4);
    const [id = "", deleted = "", withheld = "", brief = ""] = ids;
    const backup = createMemoryBlobStore();
    const keep = () => backupStorage({ from: site.store, to: backup, source: "test" });
    await keep();
    await site.images.remove(deleted);
    await site.images.withhold(withheld, { reason: "Case 4711" });
    await lose(site.store, [id, withheld, brief]);
    await verified(site, { repair: true, maxRemovals: 3 });
    expect(await Promise.all(ids.map((each) => statusOf(site, each)))).toEqual([410, 410, 451, 410]);
    expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
    return { site, ids, backup, keep };
  }

  async function requireRevived(site: ImageSite, ids: readonly string[]): Promise<void> {
    expect(await Promise.all(ids.map((id) => statusOf(site, id)))).toEqual([200, 410, 451, 200]);
    expect(await site.images.usage("anna")).toEqual({ images: 3, bytes: 3 * PNG.length });
    expect((await verified(site)).report).toMatchObject({ defects: 0 });
    const [id = "", , withheld = ""] = ids;
    expect(await storedRecord(site.store, id)).toMatchObject({ gone: null, owner: { name: "anna" } });
    await site.images.release(withheld);
    expect(await statusOf(site, withheld)).toBe(200);
  }

  test("is restored by a repair from a backup, others stay ended, and a takedown stays", async () => {
    const { site, ids, backup } = await ended();
    expect((await verified(site)).findings).toEqual([]);
    const { findings } = await verified(site, { repair: true, backup });
    expect(findings.map(({ what, repair }) => `${what} ${repair}`)).toEqual(
      Array(3).fill("missing-original restored"),
    );
    await requireRevived(site, ids);
    expect((await verified(site, { repair: true, backup })).findings).toEqual([]);
  });

  test("is restored by a restore from a backup, also one that was updated since", async () => {
    const { site, ids, backup, keep } = await ended();
    const again = await keep();
    expect(again.damaged.map(({ key }) => key).sort()).toEqual(
      [ids[0], ids[2], ids[3]].flatMap((id) => [`${id}/original`, `${id}/record`]).sort(),
    );
    const report = await restoreStorage({ from: backup, to: site.store });
    expect(report).toMatchObject({ wasLiving: true, restored: 3, ended: 1, isComplete: true });
    await requireRevived(site, ids);
  });

  test("is not charged to its owner if its record cannot be stored", async () => {
    const { site, backup } = await ended();
    const storage = tapStore(site.store, ({ method, key }) => {
      if (method === "put" && key.endsWith("/record"))
        throw new ServiceError("conflict", "Another was faster.");
    });
    const report = await restoreStorage({ from: backup, to: storage, patienceMs: 100 });
    expect(report).toMatchObject({ restored: 0, isComplete: false });
    expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
    const { findings } = await verified(site, { storage, repair: true, backup });
    expect(findings.map(({ repair }) => repair)).toEqual(Array(3).fill("failed"));
    expect(await site.images.usage("anna")).toEqual({ images: 0, bytes: 0 });
  });

  test("is not listed as ended, stays ended after its expiry, and is kept as it is if the backup lacks its bytes", async () => {
    const { site, ids, backup } = await ended();
    const ends: unknown[] = [];
    for await (const { id, why } of site.images.ends()) ends.push([id, why]);
    const [, deleted, withheld] = ids;
    expect(ends.sort()).toEqual(
      [
        [deleted, "deleted"],
        [withheld, null],
      ].sort(),
    );
    await lose(
      backup,
      ids.filter((id) => id !== deleted),
    );
    expect((await verified(site, { repair: true, backup })).findings).toEqual([]);
    site.clock.now += 2 * DAY;
    const whole = await stockedSite(0);
    expect((await verified(site, { repair: true, backup: whole.site.store })).findings).toEqual([]);
    expect(await statusOf(site, ids[0] ?? "")).toBe(410);
  });
});
