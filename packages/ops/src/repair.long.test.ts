import { describe, expect, test } from "vitest";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { PNG } from "../../core/test/calls.ts";
import { bytesAt, created, type ImageSite, keysOf, storedRecord } from "../../core/test/image-site.ts";
import { createLifeSite, STORES } from "../../core/test/life-site.ts";
import { copyOf, damageEverything, problemsOf, verified } from "../test/verify-site.ts";

const OTHER = Buffer.concat([PNG, Buffer.from("another")]);

function statusOf(site: ImageSite, id: string): Promise<number> {
  return site.send("GET", `/api/images/${id}.png`).then(({ status }) => status);
}

async function backupOf(site: ImageSite): Promise<BlobStore> {
  return copyOf(site.store, createMemoryBlobStore());
}

async function addAll(into: BlobStore, from: BlobStore): Promise<void> {
  for (const key of (await from.list("")).keys) {
    if ((await into.stat(key)) === null) await into.put(key, (await bytesAt(from, key)) ?? Buffer.alloc(0));
  }
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a repair without a backup ends damaged images with 410, deletes leftovers and leaves no defect", async () => {
    const site = createLifeSite({ store: createStore(), authorize: () => ({ owner: "anna" }) });
    const whole = created(await site.create()).id;
    const expected = await damageEverything(site);
    const [usage = ""] = (await keysOf(site.store)).filter((key) => key.startsWith("usage/"));
    await site.store.put(usage, Buffer.alloc(0));
    const found = await verified(site, { repair: true, maxRemovals: 10 });
    const problems = Object.entries(expected).map(([key, what]) => [key, `${what} removed`]);
    expect(problemsOf(found)).toMatchObject(Object.fromEntries(problems));
    expect(found.report).toMatchObject({ defects: found.report.repaired });
    for (const key of Object.keys(expected).filter((each) => each.endsWith("/record"))) {
      const [id = ""] = key.split("/");
      expect(await statusOf(site, id)).toBe(410);
      expect(await site.store.stat(`${id}/original`)).toBeNull();
    }
    expect(await statusOf(site, whole)).toBe(200);
    expect((await verified(site)).report).toMatchObject({ defects: 0 });
    expect(await site.images.usage("anna")).toEqual({ images: 1, bytes: PNG.length });
  });

  test("a repair with a backup restores every image unchanged", async () => {
    const clean = createLifeSite({ store: createStore() });
    const backup = createMemoryBlobStore();
    // Copies each image to the backup before it is damaged.
    const { store } = clean;
    const watched = {
      ...clean,
      async create(...args: Parameters<ImageSite["create"]>) {
        const answer = await clean.create(...args);
        await addAll(backup, await copyOf(store, createMemoryBlobStore()));
        return answer;
      },
    };
    const expected = await damageEverything(watched);
    const found = await verified(clean, { repair: true, backup });
    const images = Object.keys(expected).filter((key) => key.endsWith("/record"));
    const problems = images.map((key) => [key, `${expected[key]} restored`]);
    expect(problemsOf(found)).toMatchObject(Object.fromEntries(problems));
    for (const key of images) {
      const answer = await clean.send("GET", `/api/images/${key.split("/")[0]}.png`);
      expect([answer.status, answer.text]).toEqual([200, PNG.toString("utf8")]);
    }
    expect((await verified(clean)).report).toMatchObject({ defects: 0 });
  });
});

test("a lost record is restored if its bytes match the record in the backup, else the bytes are deleted", async () => {
  const site = createLifeSite();
  const lost = created(await site.create()).id;
  const other = created(await site.create({ file: OTHER })).id;
  const backup = await backupOf(site);
  for (const id of [lost, other]) await site.store.delete(`${id}/record`);
  await site.store.put(`${other}/original`, PNG);
  site.clock.now += 16 * 60_000;
  expect(problemsOf(await verified(site, { repair: true, backup }))).toEqual({
    [`${lost}/original`]: "orphaned-bytes restored",
    [`${other}/original`]: "orphaned-bytes removed",
  });
  expect([await statusOf(site, lost), await statusOf(site, other)]).toEqual([200, 404]);
});

test("a restored record is listed among the images of its owner", async () => {
  const site = createLifeSite({ authorize: () => ({ owner: "anna" }) });
  const { id } = created(await site.create());
  const backup = await backupOf(site);
  const [entry = ""] = (await keysOf(site.store)).filter((key) => key.startsWith("owned/"));
  for (const key of [entry, `${id}/record`]) expect(await site.store.delete(key)).toBe(true);
  site.clock.now += 16 * 60_000;
  await verified(site, { repair: true, backup });
  expect((await verified(site)).findings).toEqual([]);
  expect(await keysOf(site.store)).toContain(entry);
});

test("a missing entry in the index of an owner is found and repaired 15 minutes after the upload, not before", async () => {
  const site = createLifeSite({ authorize: () => ({ owner: "anna" }) });
  const { id } = created(await site.create());
  const [entry = ""] = (await keysOf(site.store)).filter((key) => key.startsWith("owned/"));
  await site.store.delete(entry);
  site.clock.now += 15 * 60_000 - 1;
  expect((await verified(site)).findings).toEqual([]);
  site.clock.now += 1;
  expect(problemsOf(await verified(site, { repair: true }))).toEqual({
    [`${id}/record`]: "missing-entry restored",
  });
  expect(await keysOf(site.store)).toContain(entry);
});

test("a repair removes renditions made from damaged bytes", async () => {
  const site = createLifeSite({ memoryBytes: 0 });
  const { id } = created(await site.create());
  const backup = await backupOf(site);
  await site.store.put(`${id}/original`, Buffer.concat([PNG.subarray(0, -4), Buffer.from("rot!")]));
  await site.store.put(`${id}/renditions/x.webp`, Buffer.from("drawn from rot"));
  await verified(site, { repair: true, backup });
  expect(await keysOf(site.store)).toEqual([`${id}/original`, `${id}/record`]);
  expect(await bytesAt(site.store, `${id}/original`)).toEqual(PNG);
});

describe("a repair with an older backup", () => {
  /** An image that lives in the backup, with a later change of its record. */
  async function sinceBackup(change: (site: ImageSite, id: string) => Promise<void>) {
    const site = createLifeSite();
    const { id } = created(await site.create());
    const backup = await backupOf(site);
    await change(site, id);
    return { site, id, backup };
  }

  async function corrupt({ store }: ImageSite, id: string, from: RegExp | string, to: string): Promise<void> {
    const text = String(await bytesAt(store, `${id}/record`));
    expect(text.replace(from, to)).not.toBe(text);
    await store.put(`${id}/record`, Buffer.from(text.replace(from, to)));
  }

  test.each([
    [
      "whose damaged record still states the deletion",
      (site: ImageSite, id: string) => corrupt(site, id, /"size":\d+/, '"size":"x"'),
    ],
    ["whose record is cut", (site: ImageSite, id: string) => corrupt(site, id, /\}$/, "")],
    ["whose record is nonsense", (site: ImageSite, id: string) => corrupt(site, id, /.*/s, "\u0000")],
  ])("removes a deleted image %s", async (_case, spoil) => {
    const { site, id, backup } = await sinceBackup(async (live, image) => {
      await live.images.remove(image);
      await spoil(live, image);
    });
    expect(problemsOf(await verified(site, { repair: true, backup }))).toEqual({
      [`${id}/record`]: "damaged-record removed",
    });
    expect(await statusOf(site, id)).toBe(410);
    expect(await site.store.stat(`${id}/original`)).toBeNull();
  });

  test("restores a withheld image as withheld if its damaged record still states that", async () => {
    const { site, id, backup } = await sinceBackup(async (live, image) => {
      await live.images.withhold(image, { reason: "Case 4711" });
      await corrupt(live, image, /"size":\d+/, '"size":"x"');
    });
    expect(problemsOf(await verified(site, { repair: true, backup }))).toEqual({
      [`${id}/record`]: "damaged-record restored",
    });
    expect(await storedRecord(site.store, id)).toMatchObject({
      size: PNG.length,
      withheld: { reason: "Case 4711" },
    });
    expect(await statusOf(site, id)).toBe(451);
  });

  test("ends a withheld image whose record is cut", async () => {
    const { site, id, backup } = await sinceBackup(async (live, image) => {
      await live.images.withhold(image, { reason: "Case 4711" });
      await corrupt(live, image, /\}$/, "");
    });
    await verified(site, { repair: true, backup });
    expect(await statusOf(site, id)).toBe(410);
  });

  test("ends an image that is gone in the backup", async () => {
    const site = createLifeSite();
    const { id } = created(await site.create());
    const living = await bytesAt(site.store, `${id}/record`);
    await site.images.remove(id);
    const backup = await backupOf(site);
    await site.store.put(`${id}/original`, PNG);
    await site.store.put(`${id}/record`, living?.subarray(0, 50) ?? Buffer.alloc(0));
    await verified(site, { repair: true, backup });
    expect(await statusOf(site, id)).toBe(410);
  });

  test("keeps an image that was withheld after its record was damaged", async () => {
    const { site, id, backup } = await sinceBackup(async (live, image) => {
      await corrupt(live, image, /.*/s, "\u0000");
      await live.images.withhold(image, { reason: "Case 4711" });
    });
    expect((await verified(site, { repair: true, backup })).findings).toEqual([]);
    expect(await statusOf(site, id)).toBe(451);
  });
});

test("a repair removes an image whose copy in the backup is damaged too", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  const backup = await backupOf(site);
  await backup.put(`${id}/original`, PNG.subarray(0, 20));
  await site.store.put(`${id}/original`, PNG.subarray(0, 30));
  expect(problemsOf(await verified(site, { repair: true, backup }))).toEqual({
    [`${id}/record`]: "wrong-size removed",
  });
  expect(await statusOf(site, id)).toBe(410);
});

test("an image deleted while its original is restored keeps no bytes", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  const backup = await backupOf(site);
  await site.store.delete(`${id}/original`);
  const { store } = site;
  const storage: BlobStore = {
    ...store,
    async put(key, body, options) {
      if (key === `${id}/original`) await site.images.remove(id);
      return store.put(key, body, options);
    },
  };
  await verified(site, { repair: true, backup, storage });
  expect(await statusOf(site, id)).toBe(410);
  expect(await store.stat(`${id}/original`)).toBeNull();
});

test("a repair leaves an image unchanged that was edited during the verification", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  await site.store.put(`${id}/original`, PNG.subarray(0, 20));
  const { store } = site;
  let isNext = false;
  const storage: BlobStore = {
    ...store,
    async put(key, body, options) {
      if (key === `${id}/record` && !isNext) {
        isNext = true;
        await site.images.withhold(id, { reason: "Case 4711" });
      }
      return store.put(key, body, options);
    },
  };
  const found = await verified(site, { repair: true, storage });
  expect(problemsOf(found)).toEqual({ [`${id}/record`]: "wrong-size failed" });
  expect(found.report).toMatchObject({ defects: 1, repaired: 0 });
  expect(found.errors).toHaveLength(1);
  expect(await statusOf(site, id)).toBe(451);
});
