import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { created, eventually, type ImageSite, type SiteOptions } from "../../../test/image-site.ts";
import { createDiskStore, createLifeSite, DAY } from "../../../test/life-site.ts";
import { type StoreCall, tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

function siteBeside(renditions: BlobStore, options: SiteOptions = {}): ImageSite {
  const [records, originals] = [createMemoryBlobStore(), createMemoryBlobStore()];
  return createLifeSite({ ...options, storage: { records, originals, renditions } } as object);
}

/** The statuses of a rendition that may be stored, and of new ones. */
async function conversions(site: ImageSite, id: string): Promise<number[]> {
  const statuses = [];
  for (const path of [`${id}.jpg`, `${id}.webp`, `${id}.gif`]) {
    statuses.push((await site.send("GET", `/api/images/${path}`)).status);
  }
  return statuses;
}

/** Waits for a store that rests after a failure. */
function afterRest(check: () => Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 60_000, interval: 100 });
}

const FAILURES: [string, (call: StoreCall) => unknown][] = [
  [
    "rejects as unavailable",
    () => {
      throw new ServiceError("store_unavailable", "No answer.");
    },
  ],
  [
    "rejects with errors of its own",
    () => {
      throw Object.assign(new Error("Access Denied"), { code: "AccessDenied", status: 403 });
    },
  ],
  ["never answers", () => new Promise(() => {})],
];

test.each(FAILURES)(
  "a store of renditions that %s keeps no conversion, readiness, upload or deletion from success, with one report",
  async (_what, fail) => {
    const kept = createMemoryBlobStore();
    let calls = 0;
    let isDown = false;
    const renditions = tapStore(kept, (call) => {
      if (!isDown) return;
      calls++;
      return fail(call) as Promise<void>;
    });
    // Without memory: each read asks the store.
    const site = siteBeside(renditions, { memoryBytes: 0 });
    const { id, pin } = created(await site.create());
    await conversions(site, id);
    isDown = true;
    expect(await conversions(site, id)).toEqual([200, 200, 200]);
    const asked = calls;
    for (let round = 0; round < 25; round++) expect(await conversions(site, id)).toEqual([200, 200, 200]);
    // The store rests after a failure. Without rests, each of the 75 conversions would ask it five times.
    expect(calls - asked).toBeLessThan(75);
    await site.images.ready();
    expect((await site.create()).status).toBe(201);
    expect((await site.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` })).status).toBe(204);
    expect((await site.send("GET", `/api/images/${id}.jpg`)).status).toBe(410);
    const about = site.errors.map(String).filter((each) => each.includes("store of the renditions"));
    expect([site.errors.length, about.length]).toEqual([1, 1]);

    isDown = false;
    // What the deletion could not remove is removed by a sweep.
    await afterRest(async () => {
      site.clock.now += 6 * 60_000;
      await site.images.sweep();
      expect((await kept.list(`${id}/`)).keys).toEqual([]);
    });
  },
);

test("a service starts and serves with a store of renditions that is away or silent, and uses it when it is back", async () => {
  for (const [, fail] of FAILURES) {
    const kept = createMemoryBlobStore();
    let isDown = true;
    const renditions = tapStore(kept, (call) => (isDown ? (fail(call) as Promise<void>) : undefined));
    const site = siteBeside(renditions, { memoryBytes: 0 });
    await site.images.ready();
    const { id } = created(await site.create());
    expect(await conversions(site, id)).toEqual([200, 200, 200]);
    isDown = false;
    await afterRest(async () => {
      await conversions(site, id);
      expect((await kept.list(`${id}/renditions/`)).keys).toHaveLength(3);
    });
  }
});

test.each<[string, (directory: string) => Promise<unknown>]>([
  ["is removed", (directory) => rm(directory, { recursive: true })],
  [
    "is replaced by an empty one",
    async (directory) => {
      await rename(directory, `${directory}.away`);
      // A write in the background may have made it again.
      await mkdir(directory, { recursive: true });
    },
  ],
  ["loses its contents", (directory) => rm(`${directory}/blobs`, { recursive: true })],
  [
    "becomes a file",
    async (directory) => {
      await rm(directory, { recursive: true });
      await writeFile(directory, "");
    },
  ],
  ["may not be used", (directory) => chmod(directory, 0)],
])(
  "conversions go on when the directory of the renditions %s, and it is made again if it can be",
  async (what, spoil) => {
    const renditions = createDiskStore();
    const directory = dirname(renditions.blobDirectory);
    const site = siteBeside(renditions, { memoryBytes: 0 });
    const { id } = created(await site.create());
    await conversions(site, id);
    await eventually(async () => expect((await renditions.list(`${id}/renditions/`)).keys).toHaveLength(3));
    await site.images.ready();
    await spoil(directory);
    for (let round = 0; round < 3; round++) expect(await conversions(site, id)).toEqual([200, 200, 200]);
    await site.images.ready();
    if (what === "becomes a file") {
      await rm(directory);
      await mkdir(directory);
    }
    await chmod(directory, 0o700);
    await afterRest(async () => {
      expect(await conversions(site, id)).toEqual([200, 200, 200]);
      expect(existsSync(`${directory}/blobs`)).toBe(true);
      expect((await renditions.list(`${id}/renditions/`)).keys).toHaveLength(3);
    });
    site.clock.now += DAY;
    await site.images.sweep();
  },
);
