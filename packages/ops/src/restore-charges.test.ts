import { beforeEach, describe, expect, it } from "vitest";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { ServiceError } from "../../core/src/errors.ts";
import { createImageAdmin } from "../../core/src/images/life/image-admin.ts";
import { newIdentity, writeIdentity } from "../../core/src/images/store/store-identity.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { addImage } from "../test/stocked-store.ts";
import { backupStorage } from "./backup.ts";
import { restoreStorage } from "./restore.ts";

let from: BlobStore;
let backup: BlobStore;
/** IDs of an image without an owner, and of one that is in the backup only. */
let id: string;
let owned: string;

beforeEach(async () => {
  [from, backup] = [createMemoryBlobStore(), createMemoryBlobStore()];
  await writeIdentity(from, newIdentity([], 7), null);
  id = await addImage(from);
  owned = await addImage(from, { owner: { name: "alice", bytes: 100 } });
  await backupStorage({ from, to: backup, source: "memory" });
  for (const part of ["record", "original"]) await from.delete(`${owned}/${part}`);
});

describe.each(["an empty", "a living"])("a restore onto %s storage lists and charges an image", (kind) => {
  const isLiving = kind === "a living";

  async function requireCharged(kept: BlobStore, to: BlobStore): Promise<void> {
    const report = await restoreStorage({ from: backup, to, patienceMs: 2_000 });
    expect(report).toMatchObject({ isComplete: true, wasLiving: isLiving });
    for (const each of [id, owned]) expect(await kept.stat(`${each}/record`)).not.toBeNull();
    expect(await createImageAdmin({ storage: kept }).usage("alice")).toEqual({ images: 1, bytes: 100 });
    expect((await kept.list("owned/")).keys).toEqual([expect.stringContaining(owned)]);
  }

  it("if the reply to the write of its record is lost", async () => {
    const kept = isLiving ? from : createMemoryBlobStore();
    let puts = 0;
    const to: BlobStore = {
      ...kept,
      async put(key, body, options) {
        const info = await kept.put(key, body, options);
        if (key === `${owned}/record` && puts++ === 0)
          throw new ServiceError("store_unavailable", "No answer.");
        return info;
      },
    };
    await requireCharged(kept, to);
    expect(puts).toBeGreaterThan(0);
  });

  it("if the write of its record takes effect after the charge was undone", async () => {
    const kept = isLiving ? from : createMemoryBlobStore();
    let late: (() => Promise<unknown>) | null = null;
    const to: BlobStore = {
      ...kept,
      async put(key, body, options) {
        if (key !== `${owned}/record` || late !== null) return kept.put(key, body, options);
        late = () => kept.put(key, body, options);
        throw new ServiceError("store_unavailable", "No answer.");
      },
      async delete(key) {
        const isDeleted = await kept.delete(key);
        if (key.startsWith("owned/")) await late?.();
        return isDeleted;
      },
    };
    await requireCharged(kept, to);
    expect(late).not.toBeNull();
  });
});
