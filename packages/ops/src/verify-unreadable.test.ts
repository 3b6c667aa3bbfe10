import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { BlobStore, StorageRoles } from "../../core/src/contracts/blob-store.ts";
import { createImages } from "../../core/src/images/images.ts";
import { createFsBlobStore } from "../../core/src/stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { createCall } from "../../core/test/calls.ts";
import { answerOf, created, keysOf } from "../../core/test/image-site.ts";
import { willingRenderer } from "../../core/test/life-site.ts";
import { tapStore } from "../../core/test/tapped-store.ts";
import { withoutAccess } from "../../core/test/without-access.ts";
import { backupStorage } from "./backup.ts";
import { migrateStorage } from "./migrate.ts";
import { verifyStorage } from "./verification.ts";
import type { VerifyFinding, VerifyOptions } from "./verify-options.ts";

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-unreadable-"));
  directories.push(directory);
  return directory;
}

/** Stores images, each in a shard of its own, with a rendition. @returns their IDs */
async function stock(storage: BlobStore | StorageRoles, count: number): Promise<string[]> {
  const options = { secret: "0123456789abcdef0123456789abcdef", sweepEveryMs: false as const };
  const images = createImages({ storage, renderer: willingRenderer(), rateLimits: false, ...options });
  const send = async (method: string, path: string) =>
    answerOf(await images.handle(createCall(method, path)));
  const byShard = new Map<string, string>();
  while (byShard.size < count) {
    const { id } = created(await send("POST", "/api/images.json"));
    if (byShard.has(id.slice(0, 2))) continue;
    byShard.set(id.slice(0, 2), id);
    expect((await send("GET", `/api/images/${id}.jpg`)).status).toBe(200);
  }
  await images.close();
  return [...byShard.values()];
}

async function verified(storage: BlobStore | StorageRoles, options: Partial<VerifyOptions> = {}) {
  const findings: VerifyFinding[] = [];
  const onFinding = (finding: VerifyFinding) => findings.push(finding);
  const report = await verifyStorage({ storage, patienceMs: 100, onFinding, ...options });
  return { report, findings, keys: findings.map(({ key }) => key).sort() };
}

/** Five images. Refused are a shard, the directory of an image, a record, and the file of an original. */
async function refusedPlace() {
  const directory = newDirectory();
  const ids = await stock(createFsBlobStore({ directory }), 5);
  const store = createFsBlobStore({ directory });
  const [a = "", b = "", c = "", d = ""] = ids;
  const at = (id: string, ...path: string[]) => join(directory, "blobs", id.slice(0, 2), ...path);
  const file = (await store.localPath(`${d}/original`)) ?? "";
  const directories = [at(a), at(b, b)];
  const keys = [...directories, `${c}/record`, `${d}/record`].sort();
  return { directory, store, paths: [...directories, at(c, c, "record@"), file], keys };
}

test("verify reports each refused file and directory once with the remedy, and checks all others", async () => {
  const { directory, store, paths, keys } = await refusedPlace();
  await withoutAccess(directory, paths, async () => {
    for (const options of [{}, { repair: true, maxRemovals: 100 }]) {
      const found = await verified(store, options);
      expect(found.keys).toEqual(keys);
      for (const { what, detail, repair } of found.findings) {
        expect([what, repair]).toEqual(["unreadable", null]);
        expect(detail).toMatch(/this user has no access to (\S+); as root, chown -R \d+ \1 gives it$/);
      }
      expect(found.report).toMatchObject({ images: 1, defects: 4, repaired: 0, unrestorable: 0 });
    }
  });
  expect(await verified(store)).toMatchObject({ keys: [], report: { images: 5, defects: 0 } });
});

const ROLES = ["records", "originals", "renditions"] as const;

/** Three images in stores of their own for each role. */
async function splitPlace() {
  const root = newDirectory();
  const open = (role: string) => createFsBlobStore({ directory: join(root, role) });
  const roles = () => ({
    records: open("records"),
    originals: open("originals"),
    renditions: open("renditions"),
  });
  const [id = ""] = await stock(roles(), 3);
  const storage = roles();
  const all = async () => (await Promise.all(ROLES.map((role) => keysOf(storage[role])))).flat().sort();
  const shardOf = (role: string) => join(root, role, "blobs", id.slice(0, 2));
  return { root, id, storage, all, shardOf };
}

test.each(ROLES)("a repair removes nothing while a directory of the %s may not be read", async (role) => {
  const { root, id, storage, all, shardOf } = await splitPlace();
  const before = await all();
  const paths = [shardOf(role)];
  await withoutAccess(root, paths, async () => {
    const found = await verified(storage, { repair: true, maxRemovals: 100 });
    const image = role === "renditions" ? [] : [`${id}/record`];
    expect(found.keys).toEqual([...paths, ...image].sort());
    expect(found.report).toMatchObject({ defects: found.findings.length, repaired: 0, unrestorable: 0 });
  });
  expect(await all()).toEqual(before);
});

test("a store that fails for one record does not end the search for orphans", async () => {
  const store = createMemoryBlobStore();
  const [id = ""] = await stock({ ...store, close: async () => {} }, 2);
  const stray = `${"s".repeat(21)}A/original`;
  await store.put(stray, Buffer.from("x"));
  const failing = tapStore(store, ({ method, key }) => {
    if (method !== "list" && key === `${id}/record`) throw new Error("a bad block");
  });
  const { findings } = await verified(failing);
  expect(findings.map(({ key, what }) => [key, what])).toEqual([
    [`${id}/record`, "unreadable"],
    [stray, "orphaned-bytes"],
  ]);
});

test("backup and migration reject over a source or target with a refused directory, and name it", async () => {
  const directory = newDirectory();
  const [id = ""] = await stock(createFsBlobStore({ directory }), 1);
  const from = createFsBlobStore({ directory });
  const shard = join(directory, "blobs", id.slice(0, 2));
  const refusal = { code: "store_unavailable", cause: { code: "EACCES", path: shard } };
  const run = { source: "here", patienceMs: 100 };
  await withoutAccess(directory, [shard], async () => {
    const to = createMemoryBlobStore();
    await expect(backupStorage({ from, to, ...run })).rejects.toMatchObject(refusal);
    expect((await keysOf(to)).filter((key) => key.startsWith(id))).toEqual([]);
    await expect(migrateStorage({ from, to: createMemoryBlobStore(), ...run })).rejects.toMatchObject(
      refusal,
    );
  });
  // Its only image is in a directory that may not be read.
  const target = newDirectory();
  const to = createFsBlobStore({ directory: target });
  await to.put(`${id}/record`, Buffer.from("{}"));
  const source = createMemoryBlobStore();
  await stock({ ...source, close: async () => {} }, 1);
  const only = join(target, "blobs", id.slice(0, 2));
  await withoutAccess(target, [only], async () => {
    await expect(migrateStorage({ from: source, to, ...run })).rejects.toMatchObject({
      cause: { path: only },
    });
  });
});
