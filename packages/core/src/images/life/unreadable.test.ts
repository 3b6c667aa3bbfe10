import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { created, type ImageSite } from "../../../test/image-site.ts";
import { createDiskStore, createLifeSite } from "../../../test/life-site.ts";
import { withoutAccess } from "../../../test/without-access.ts";
import { hashOfName } from "../../stores/name-index.ts";
import { createImageAdmin, type StorageAdmin } from "./image-admin.ts";

const OWNER = "anna";

interface Place {
  directory: string;
  site: ImageSite;
  /** Images in different shards. */
  ids: string[];
  /** Runs work with an administrator while paths below the directory of blobs may not be read. */
  refused<T>(paths: string[], work: (admin: StorageAdmin, errors: unknown[]) => Promise<T>): Promise<T>;
}

async function stocked(count: number): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-refused-"));
  const site = createLifeSite({ store: createDiskStore(directory), authorize: () => ({ owner: OWNER }) });
  const byShard = new Map<string, string>();
  while (byShard.size < count) {
    const { id } = created(await site.create());
    if (byShard.has(id.slice(0, 2))) await site.images.remove(id);
    else byShard.set(id.slice(0, 2), id);
  }
  const refused: Place["refused"] = (paths, work) => {
    const full = paths.map((path) => join(directory, "blobs", path));
    return withoutAccess(directory, full, async () => {
      const errors: unknown[] = [];
      const onError = (error: unknown) => errors.push(error);
      const storage = { ...site.store, close: async () => {} };
      const admin = createImageAdmin({ storage, onError, now: () => site.clock.now });
      return work(admin, errors).finally(() => admin.close());
    });
  };
  return { directory, site, ids: [...byShard.values()], refused };
}

async function until<T>(items: AsyncGenerator<T>): Promise<{ read: T[]; error: Error }> {
  const read: T[] = [];
  try {
    for await (const item of items) read.push(item);
  } catch (error) {
    return { read, error: error as Error };
  }
  return assert.fail("The list did not reject");
}

/** Paths of a shard, of an image's directory, and of a record. */
function pathsOf([shard = "", image = "", record = ""]: string[]): string[] {
  return [shard.slice(0, 2), join(image.slice(0, 2), image), join(record.slice(0, 2), record, "record@")];
}

test("list() yields all images that can be read, then rejects; stats() rejects", async () => {
  const { ids, refused } = await stocked(5);
  await refused(pathsOf(ids), async (admin, errors) => {
    for (const filter of [{}, { owner: OWNER }]) {
      const { read, error } = await until(admin.list(filter));
      expect(read.map(({ id }) => id).sort()).toEqual(ids.slice(3).sort());
      expect(error).toMatchObject({ code: "store_unavailable" });
      await expect(admin.stats(filter.owner === undefined ? {} : filter)).rejects.toMatchObject({
        code: "store_unavailable",
      });
    }
    expect(errors).toContainEqual(expect.objectContaining({ code: "store_unavailable" }));
  });
});

test("an unreadable index of an owner's images is not an owner without images", async () => {
  const { site, ids, refused } = await stocked(2);
  await site.store.delete(`usage/${hashOfName(OWNER)}`);
  await refused([join("ow", "owned", hashOfName(OWNER))], async (admin) => {
    const refusal = { code: "store_unavailable", cause: { code: "EACCES" } };
    expect(await until(admin.list({ owner: OWNER }))).toMatchObject({ read: [], error: refusal });
    await expect(admin.stats({ owner: OWNER })).rejects.toMatchObject(refusal);
    await expect(admin.usage(OWNER)).rejects.toMatchObject(refusal);
    await expect(admin.removeAll({ owner: OWNER })).rejects.toMatchObject(refusal);
    // The walk over all keys cannot tell that no image is below it.
    const { read, error } = await until(admin.list());
    expect(read.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(error).toMatchObject(refusal);
  });
});

test("removeAll() deletes every image that it can read, then rejects", async () => {
  const { ids, refused } = await stocked(3);
  await refused([join((ids[0] ?? "").slice(0, 2), ids[0] ?? "")], async (admin) => {
    await expect(admin.removeAll({ owner: OWNER })).rejects.toMatchObject({ code: "store_unavailable" });
    const { read } = await until(admin.list());
    expect(read.map(({ state }) => state)).toEqual(["deleted", "deleted"]);
  });
});

test("reports.list() rejects if the reports cannot be read", async () => {
  const { site, ids, refused } = await stocked(2);
  const cases = [
    { reference: "23456789AB", receivedAt: 0, dueAt: 1, count: 1, reasons: ["other"], statements: [] },
  ];
  const body = Buffer.from(
    JSON.stringify({ v: 1, cases: cases.map((each) => ({ ...each, contacts: [], decision: null })) }),
  );
  for (const id of ids) await site.store.put(`reports/${id}`, body);
  await refused([join("re", "reports")], async (admin) => {
    expect(await until(admin.reports.list())).toMatchObject({
      read: [],
      error: { cause: { code: "EACCES" } },
    });
  });
});
