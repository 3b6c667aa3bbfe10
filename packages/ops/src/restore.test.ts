import { beforeEach, describe, expect, it } from "vitest";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { createImageAdmin } from "../../core/src/images/life/image-admin.ts";
import type { ImageEnd } from "../../core/src/images/life/image-listing.ts";
import { Reports } from "../../core/src/images/reports/reports.ts";
import {
  fingerprintsOf,
  newIdentity,
  readIdentity,
  readMigrationMark,
  writeIdentity,
} from "../../core/src/images/store/store-identity.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { addImage, DAY_MS, textAt } from "../test/stocked-store.ts";
import { backupStorage } from "./backup.ts";
import { KnownEnds } from "./end-lists.ts";
import { MANIFEST_KEY, readBackupManifest } from "./manifest.ts";
import { type RestoreOptions, restoreStorage } from "./restore.ts";

const SECRET = "a secret of more than thirty-two bytes";
const COURT = { reason: "Order of the court" };

let from: BlobStore;
let backup: BlobStore;
let ids: string[];

async function recordOf(store: BlobStore, id: string): Promise<Record<string, unknown> | null> {
  return JSON.parse((await textAt(store, `${id}/record`)) ?? "null");
}

/** Makes the backup look older than it is. */
async function age(days: number): Promise<void> {
  const manifest = (await readBackupManifest(backup))?.manifest;
  if (manifest === undefined) throw new Error("The backup has no manifest");
  const since = manifest.since - days * DAY_MS;
  await backup.put(MANIFEST_KEY, Buffer.from(JSON.stringify({ ...manifest, since })));
}

function reportsIn(store: BlobStore): Reports {
  const announce = async () => undefined;
  const records = { load: async () => null };
  return new Reports({ store, records, announce, now: Date.now, log: { info() {} }, onError: console.error });
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function restore(to: BlobStore, options: Partial<RestoreOptions> = {}) {
  return restoreStorage({ from: backup, to, patienceMs: 2_000, ...options });
}

function endsOf(store: BlobStore): Promise<ImageEnd[]> {
  return all(createImageAdmin({ storage: store }).ends());
}

beforeEach(async () => {
  from = createMemoryBlobStore();
  backup = createMemoryBlobStore();
  ids = [];
  for (let index = 0; index < 5; index++) ids.push(await addImage(from));
  await writeIdentity(from, newIdentity(fingerprintsOf(SECRET), 7), null);
});

async function backUp(): Promise<void> {
  const report = await backupStorage({ from, to: backup, source: "memory" });
  expect(report.isComplete).toBe(true);
}

describe("restoreStorage onto an empty storage", () => {
  it("restores every image, the usage of owners, the due dates and the identity of the lost store", async () => {
    const owned = await addImage(from, { owner: { name: "alice", bytes: 100 } });
    const gone = await addImage(from, { gone: { at: Date.now() - DAY_MS, why: "deleted" }, owner: null });
    const expired = await addImage(from, { expiresAt: Date.now() - 1, owner: { name: "alice", bytes: 100 } });
    await addImage(from, { gone: { at: Date.now() - 31 * DAY_MS, why: "deleted" } });
    await backUp();
    const to = createMemoryBlobStore();
    await writeIdentity(to, newIdentity([], 1), null);
    const report = await restore(to, { secret: SECRET });
    expect(report).toMatchObject({ restored: 6, ended: 2, kept: 0, wasLiving: false, isComplete: true });
    for (const id of [...ids, owned]) {
      for (const part of ["original", "record"]) {
        expect(await textAt(to, `${id}/${part}`)).toBe(await textAt(from, `${id}/${part}`));
      }
    }
    expect(await textAt(to, `${gone}/record`)).not.toBeNull();
    expect(await recordOf(to, expired)).toMatchObject({ gone: { why: "expired" }, name: "", owner: null });
    expect(await to.stat(`${expired}/original`)).toBeNull();
    const admin = createImageAdmin({ storage: to });
    expect(await admin.usage("alice")).toEqual({ images: 1, bytes: 100 });
    expect((await readIdentity(to))?.identity).toEqual((await readIdentity(from))?.identity);
    expect(await readMigrationMark(to)).toBeNull();
    // A sweep right afterwards empties nothing that lives, and finds the ended images by their dates.
    expect(await admin.sweep()).toMatchObject({ emptied: 2, forgotten: 0, failed: 0 });
  });

  it("restores reports, the deny list and the lists of operators", async () => {
    const [id = ""] = ids;
    const before = createImageAdmin({ storage: from });
    await before.withhold(id, { ...COURT, by: "anna" });
    await before.deny({ sha256: "ab".repeat(32), reason: "Known abuse.", by: "anna" });
    const report = { reason: "privacy", statement: "Mine.", contact: "ada@acme.example" } as const;
    await reportsIn(from).file(String(ids[1]), report, DAY_MS);
    await backUp();
    const to = createMemoryBlobStore();
    expect(await restore(to)).toMatchObject({ isComplete: true });
    const after = createImageAdmin({ storage: to });
    const [open, denials] = await Promise.all([
      all(after.reports.list({ state: "open" })),
      all(after.denials()),
    ]);
    expect(open).toMatchObject([{ id: ids[1], statements: ["Mine."], contacts: ["ada@acme.example"] }]);
    expect(denials).toMatchObject([{ sha256: "ab".repeat(32), reason: "Known abuse." }]);
    expect((await after.newest({ state: "withheld" })).images.map((image) => image.id)).toEqual([id]);
  });

  it("marks the target as unfinished until it is complete, and continues after an interruption", async () => {
    await backUp();
    const to = createMemoryBlobStore();
    const controller = new AbortController();
    const onProgress = ({ keys }: { keys: number }) => {
      if (keys === 2) controller.abort(new Error("Enough"));
    };
    const cut = restore(to, { signal: controller.signal, onProgress, concurrency: 1 });
    await expect(cut).rejects.toThrow("Enough");
    expect(await readMigrationMark(to)).toMatchObject({ kind: "restore", finishedAt: null });
    // A later list names the end of an image that the first run restored.
    const [id = ""] = ids;
    const ends = [{ at: Date.now(), tombstoneMs: 1, ends: await endsOf(from) }];
    ends[0]?.ends.push({ id, at: Date.now(), why: "deleted", withheld: null });
    expect(await restore(to, { ends })).toMatchObject({ ended: 1, isComplete: true, wasLiving: false });
    expect(await recordOf(to, id)).toMatchObject({ gone: { why: "deleted" } });
    expect(await to.stat(`${id}/original`)).toBeNull();
    expect(await readMigrationMark(to)).toBeNull();
  });

  it("applies a later list of ends: deleted images are restored as deleted, withheld ones as withheld", async () => {
    await backUp();
    const [deleted = "", withheld = "", whole = ""] = ids;
    const admin = createImageAdmin({ storage: from });
    await admin.remove(deleted);
    await admin.withhold(withheld, { ...COURT, authority: "https://a.example/1" });
    const ends = [{ at: Date.now(), tombstoneMs: 30 * DAY_MS, ends: await endsOf(from) }];
    const to = createMemoryBlobStore();
    expect(await restore(to, { ends })).toMatchObject({ restored: 4, ended: 1 });
    expect(await recordOf(to, deleted)).toMatchObject({ gone: { why: "deleted" }, name: "" });
    expect(await to.stat(`${deleted}/original`)).toBeNull();
    expect(await recordOf(to, withheld)).toMatchObject({
      withheld: { ...COURT, authority: "https://a.example/1", deleteAfter: null },
    });
    expect(await to.stat(`${withheld}/original`)).not.toBeNull();
    expect((await recordOf(to, whole))?.withheld ?? null).toBeNull();
  });

  it("reports images that the backup has lost, and restores the others", async () => {
    await backUp();
    const [lost = "", rotten = ""] = ids;
    await backup.delete(`${lost}/original`);
    await backup.put(`${rotten}/original`, Buffer.alloc(100));
    const to = createMemoryBlobStore();
    const { damaged, restored } = await restore(to);
    expect(damaged.map(({ key }) => key).sort()).toEqual([`${lost}/original`, `${rotten}/original`].sort());
    expect(restored).toBe(3);
    for (const id of [lost, rotten]) expect(await recordOf(to, id)).toBeNull();
  });

  it("rejects a source that is not a backup, another secret, an unfinished target and an incomplete backup", async () => {
    await expect(restore(createMemoryBlobStore())).rejects.toThrow("there is no backup at the source");
    await backUp();
    const wrong = { secret: "another secret of thirty-two bytes or more" };
    await expect(restore(createMemoryBlobStore(), wrong)).rejects.toThrow("the secret is not the one");
    await expect(restore(createMemoryBlobStore(), { secret: [wrong.secret, SECRET] })).resolves.toBeDefined();
    const half = createMemoryBlobStore();
    await half.put("migration/state", Buffer.from(JSON.stringify({ source: "x", finishedAt: null })));
    await expect(restore(half)).rejects.toThrow("the target is not whole");
    const manifest = (await readBackupManifest(backup))?.manifest;
    await backup.put(MANIFEST_KEY, Buffer.from(JSON.stringify({ ...manifest, finishedAt: null })));
    await expect(restore(createMemoryBlobStore())).rejects.toThrow("the backup is not whole");
    expect(await restore(createMemoryBlobStore(), { acceptIncomplete: true })).toMatchObject({ restored: 5 });
  });
});

describe("restoreStorage onto a living storage", () => {
  it("restores missing images, and reverts no edit, deletion, takedown or removal made after the backup", async () => {
    const removed = await addImage(from);
    await backUp();
    const [deleted = "", withheld = "", edited = "", lost = "", bytesLost = ""] = ids;
    const soon = new Date(Date.now() + 60_000);
    const admin = createImageAdmin({ storage: from });
    await admin.remove(deleted);
    await admin.withhold(withheld, COURT);
    await admin.withhold(removed, { ...COURT, deleteAfter: soon });
    await from.put(
      `${edited}/record`,
      Buffer.from(JSON.stringify({ ...(await recordOf(from, edited)), name: "b.png" })),
    );
    for (const part of ["record", "original"]) await from.delete(`${lost}/${part}`);
    await from.delete(`${bytesLost}/original`);
    await createImageAdmin({ storage: from, now: () => soon.getTime() + 1 }).sweep();
    const before = await Promise.all([deleted, withheld, edited, removed].map((id) => recordOf(from, id)));
    const identity = (await readIdentity(from))?.identity;
    const report = await restore(from, { secret: SECRET });
    expect(report).toMatchObject({ restored: 2, kept: 2, ended: 2, absent: 0, wasLiving: true });
    expect(await Promise.all([deleted, withheld, edited, removed].map((id) => recordOf(from, id)))).toEqual(
      before,
    );
    for (const id of [deleted, removed]) expect(await from.stat(`${id}/original`)).toBeNull();
    for (const key of [`${lost}/record`, `${lost}/original`, `${bytesLost}/original`]) {
      expect(await textAt(from, key)).toBe(await textAt(backup, key));
    }
    expect((await readIdentity(from))?.identity).toEqual(identity);
  });

  it("leaves out missing images if the backup is older than tombstoneDays, unless ends or restoreAbsent allow them", async () => {
    await backUp();
    const [lost = ""] = ids;
    const lose = async () => {
      for (const part of ["record", "original"]) await from.delete(`${lost}/${part}`);
    };
    await lose();
    await age(31);
    expect(await restore(from)).toMatchObject({ restored: 0, absent: 1, kept: 4 });
    const list = (daysAgo: number, ends: ImageEnd[] = []) => {
      return { at: Date.now() - daysAgo * DAY_MS, tombstoneMs: 30 * DAY_MS, ends };
    };
    expect(await restore(from, { ends: [list(20)] })).toMatchObject({ restored: 1, absent: 0 });
    await lose();
    const end = { id: lost, at: Date.now() - 25 * DAY_MS, why: "deleted" as const, withheld: null };
    expect(await restore(from, { ends: [list(20, [end]), list(0)] })).toMatchObject({
      restored: 0,
      ended: 1,
    });
    await lose();
    expect(await restore(from, { restoreAbsent: true })).toMatchObject({ restored: 1, absent: 0 });
  });
});

describe("KnownEnds", () => {
  it("covers a time without gaps between the lists, and takes withheld images from the latest list only", () => {
    const withheld = { reason: "x", authority: null, since: 1, deleteAfter: null };
    const held = { id: "a", at: 1, why: null, withheld };
    const gone = { id: "b", at: 2, why: "deleted" as const, withheld: null };
    const ends = new KnownEnds([
      { at: 250, tombstoneMs: 100, ends: [] },
      { at: 160, tombstoneMs: 100, ends: [held, gone] },
    ]);
    expect([...ends.byId.keys()]).toEqual(["b"]);
    expect([ends.covers(61, 250), ends.covers(60, 250), ends.covers(61, 251)]).toEqual([true, false, false]);
    expect(new KnownEnds([{ at: 250, tombstoneMs: 100, ends: [held] }]).byId.get("a")).toEqual(held);
  });
});
