import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { ServiceError } from "../../core/src/errors.ts";
import { newIdentity, readIdentity, writeIdentity } from "../../core/src/images/store/store-identity.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { tapStore } from "../../core/test/tapped-store.ts";
import { addImage, contentOf as contentBut, stocked, textAt } from "../test/stocked-store.ts";
import { backupStorage } from "./backup.ts";
import { readBackupManifest } from "./manifest.ts";
import type { StorageMirrorOptions } from "./options.ts";

/** Everything that belongs to images, except renditions. */
const contentOf = (store: BlobStore) =>
  contentBut(store, /^(?:migration|backup|identity|due-)|\/renditions\//);

function backUp(from: BlobStore, to: BlobStore, options: Partial<StorageMirrorOptions> = {}) {
  return backupStorage({ from, to, source: "memory", patienceMs: 3_000, ...options });
}

async function change(store: BlobStore, id: string, changes: object): Promise<void> {
  const record = JSON.parse((await textAt(store, `${id}/record`)) ?? "{}");
  await store.put(`${id}/record`, Buffer.from(JSON.stringify({ ...record, ...changes })));
}

describe("backupStorage", () => {
  it("closes the bytes of the source if the target rejects before it reads them", async () => {
    const { store: from, ids } = await stocked(1);
    const to = createMemoryBlobStore();
    const body = Readable.from([Buffer.alloc(100)]);
    const { get } = from;
    from.get = async (key, options) => {
      const blob = await get(key, options);
      return blob !== null && key === `${ids[0]}/original` ? { ...blob, body } : blob;
    };
    const { put } = to;
    to.put = async (key, ...given) => {
      if (key.endsWith("/original")) throw new ServiceError("no_space", "The target is full.");
      return put(key, ...given);
    };
    await backUp(from, to, { patienceMs: 1 }).catch(() => undefined);
    expect(body.destroyed).toBe(true);
  });

  it("copies everything but renditions, and copies only changes in a second run", async () => {
    const { store: from, ids } = await stocked(10);
    const [gone = "", edited = "", forgotten = ""] = ids;
    await from.put("usage/abc", Buffer.from("usage"));
    await writeIdentity(from, newIdentity(["f1"], 1), null);
    const to = createMemoryBlobStore();
    const first = await backUp(from, to);
    expect(first).toMatchObject({ images: 10, copied: 21, removed: 0, damaged: [], isComplete: true });
    expect(await contentOf(to)).toEqual(await contentOf(from));
    expect(first.manifest).toMatchObject({
      v: 1,
      tool: "outrigger",
      secrets: ["f1"],
      images: 10,
    });
    expect(first.manifest.identity).toEqual((await readIdentity(from))?.identity);

    await change(from, gone, { gone: { at: Date.now(), why: "deleted" } });
    await from.delete(`${gone}/original`);
    await change(from, edited, { name: "b.png" });
    for (const part of ["record", "original"]) await from.delete(`${forgotten}/${part}`);
    await addImage(from);
    const second = await backUp(from, to);
    expect(second).toMatchObject({ copied: 4, unchanged: 16, removed: 3, damaged: [], isComplete: true });
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it("reports keys that are damaged at the source, and keeps the good copies of the last run", async () => {
    const { store: from, ids } = await stocked(6);
    const to = createMemoryBlobStore();
    await backUp(from, to);
    const before = await contentOf(to);
    const [lost = "", cut = "", rotten = "", unreadable = ""] = ids;
    await from.delete(`${lost}/original`);
    await from.put(`${cut}/original`, Buffer.alloc(50));
    await from.put(`${rotten}/original`, Buffer.alloc(100));
    await from.put(`${unreadable}/record`, Buffer.from('{"id'));
    for (const _ of ["once", "and again"]) {
      const { damaged, failed, isComplete, manifest } = await backUp(from, to, { verify: true });
      expect(damaged.map(({ key }) => key).sort()).toEqual(
        [`${lost}/original`, `${cut}/original`, `${rotten}/original`, `${unreadable}/record`].sort(),
      );
      expect([failed, isComplete, manifest.damaged]).toEqual([[], true, 4]);
      expect(await contentOf(to)).toEqual(before);
    }
  });

  it("copies no damaged bytes, even without a good copy in the backup", async () => {
    const { store: from, ids } = await stocked(2);
    const [rotten = ""] = ids;
    await from.put(`${rotten}/original`, Buffer.alloc(100));
    const to = createMemoryBlobStore();
    const { damaged } = await backUp(from, to);
    expect(damaged.map(({ key }) => key)).toEqual([`${rotten}/original`]);
    expect(await to.stat(`${rotten}/original`)).toBeNull();
  });

  it("copies an image in its state before or after an edit or a deletion, never a living record without its bytes", async () => {
    const { store: from, ids } = await stocked(4);
    const [id = "", edited = ""] = ids;
    const to = createMemoryBlobStore();
    let isDeleted = false;
    let edits = 0;
    const watching: BlobStore = {
      ...to,
      async put(key, body, options) {
        const put = await to.put(key, body, options);
        if (key === `${id}/record` && !isDeleted) {
          isDeleted = true;
          await change(from, id, { gone: { at: Date.now(), why: "deleted" } });
          await from.delete(`${id}/original`);
        }
        if (edits < 10) await change(from, edited, { name: String(++edits) });
        return put;
      },
    };
    expect(await backUp(from, watching)).toMatchObject({ damaged: [], failed: [], isComplete: true });
    const [then, now] = [await contentOf(to), await contentOf(from)];
    expect(JSON.parse((await textAt(to, `${edited}/record`)) ?? "{}").name).toMatch(/^\d+$/);
    for (const content of [then, now]) content.delete(`${edited}/record`);
    expect(then).toEqual(now);
  });

  it("marks an interrupted run as unfinished in the manifest, and the next run continues it", async () => {
    const { store: from } = await stocked(20);
    const to = createMemoryBlobStore();
    const controller = new AbortController();
    const onProgress = ({ keys }: { keys: number }) => {
      if (keys === 10) controller.abort(new Error("Enough"));
    };
    await expect(backUp(from, to, { signal: controller.signal, onProgress })).rejects.toThrow("Enough");
    const begun = await readBackupManifest(to);
    expect(begun?.manifest.finishedAt).toBeNull();
    const { unchanged, manifest } = await backUp(from, to);
    expect(unchanged).toBeGreaterThanOrEqual(10);
    expect(manifest.finishedAt).toBeGreaterThanOrEqual(manifest.beganAt);
    expect(manifest.since).toBe(manifest.beganAt);
    // Until the next run is complete, some keys may be as old as this run.
    const again = new AbortController();
    await expect(
      backUp(from, to, { signal: again.signal, onProgress: () => again.abort(new Error("Enough")) }),
    ).rejects.toThrow("Enough");
    expect((await readBackupManifest(to))?.manifest).toMatchObject({
      finishedAt: null,
      since: manifest.since,
    });
  });

  it("rejects a target in use, a backup of another storage, a backup as the source, and an emptied source", async () => {
    const { store: from } = await stocked(1);
    await expect(backUp(from, (await stocked(1)).store)).rejects.toThrow("is not empty, and it is no backup");
    const to = createMemoryBlobStore();
    await backUp(from, to);
    await expect(backUp(from, to, { source: "elsewhere" })).rejects.toThrow("of another storage (memory)");
    await writeIdentity(from, newIdentity([], 1), null);
    await backUp(from, to, { source: "memory" });
    await backUp(from, to, { source: "the same at another address" });
    const fresh = (await stocked(1)).store;
    await expect(backUp(fresh, to)).rejects.toThrow("is a backup of another storage");
    await writeIdentity(fresh, newIdentity([], 1), null);
    await expect(backUp(fresh, to)).rejects.toThrow("is a backup of another storage");
    await expect(backUp(to, createMemoryBlobStore())).rejects.toThrow("is itself a backup");
    const { keys } = await from.list("");
    for (const key of keys.filter((each) => each !== "identity")) await from.delete(key);
    await expect(backUp(from, to)).rejects.toThrow("the source has no images");
    await expect(readIdentity(to)).rejects.toThrow("is a backup, which is not served");
  });

  it("rejects a second concurrent run, and a manifest that is of another version or unreadable", async () => {
    const { store: from } = await stocked(3);
    const to = createMemoryBlobStore();
    let hasBegun = false;
    const disturbed = tapStore(from, async ({ method, key }) => {
      if (hasBegun || method !== "get" || !key.endsWith("/original")) return;
      hasBegun = true;
      await backUp(from, to);
    });
    const outcome = backUp(disturbed, to);
    await expect(outcome).rejects.toThrow("another run writes to the same backup");
    await to.put("backup/manifest", Buffer.from('{"v":2}'));
    await expect(backUp(from, to)).rejects.toThrow("has the format version 2");
    await to.put("backup/manifest", Buffer.from("{"));
    await expect(backUp(from, to)).rejects.toMatchObject({ code: "damaged" });
  });
});
