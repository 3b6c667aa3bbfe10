import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { createFsBlobStore } from "../../stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { NameIndex } from "../../stores/name-index.ts";
import { OwnerUsage } from "./owner-usage.ts";

const OWNER = "owner";
const SLOTS = 8;
const PROCESSES = 3;
const LIMIT = 6;

/** The next event of the image in a slot, in one of the processes. */
interface Step {
  slot: number;
  process: number;
  /** Whether another process does the same concurrently. */
  isDoubled: boolean;
  /** Whether the process abandons an image for which it has reserved quota. */
  givesUp: boolean;
  /** Delay after the other steps of the group. */
  pause: number;
}

/** Concurrent steps. Afterwards a process may die, or time may pass. */
interface Group {
  steps: Step[];
  dies: number | null;
  isLater: boolean;
}

const STEP = fc.record({
  slot: fc.nat(SLOTS - 1),
  process: fc.nat(PROCESSES - 1),
  isDoubled: fc.boolean(),
  givesUp: fc.boolean(),
  pause: fc.nat(5),
});

const GROUP = fc.record({
  steps: fc.uniqueArray(STEP, { minLength: 1, maxLength: SLOTS, selector: ({ slot }) => slot }),
  dies: fc.option(fc.nat(PROCESSES - 1), { freq: 3 }),
  isLater: fc.boolean(),
});

interface Image {
  id: string;
  bytes: number;
  /** `abandoned`: reserved by a process that died, so it will never be stored or released. */
  state: "new" | "reserved" | "stored" | "released" | "cleared" | "abandoned";
}

const owned = (id: string, bytes: number) => ({ id, createdAt: 0, owner: { name: OWNER, bytes } });

/** Performs the steps as the service would, and compares the usage with the images. */
async function runModel(store: BlobStore, groups: readonly Group[]): Promise<void> {
  let nowMs = 1_700_000_000_000;
  const records = new Set<string>();
  const start = () =>
    new OwnerUsage({
      store,
      index: new NameIndex(store, "owned"),
      now: () => nowMs,
      isOwned: async (_owner, id) => records.has(id),
    });
  const usages = Array.from({ length: PROCESSES }, start);
  const usageOf = (index: number): OwnerUsage => usages[index % PROCESSES] ?? start();
  const images: Image[] = [];
  const slots = Array.from({ length: SLOTS }, newImage);

  function newImage(): Image {
    const image: Image = { id: `image-${images.length}`, bytes: images.length + 1, state: "new" };
    images.push(image);
    return image;
  }

  async function advance({ slot, process, isDoubled, givesUp, pause }: Step): Promise<void> {
    const image = slots[slot];
    if (image === undefined) return;
    const usage = usageOf(process);
    const both = isDoubled ? [usage, usageOf(process + 1)] : [usage];
    for (let left = pause; left > 0; left--) await turn();
    // A false claim that the record is consistent must change nothing.
    usage.settle(owned(image.id, image.bytes));
    switch (image.state) {
      case "new": {
        const limits = { images: LIMIT };
        const results = await Promise.allSettled(
          both.map((one) => one.reserve(owned(image.id, image.bytes), limits)),
        );
        for (const result of results)
          if (result.status === "rejected" && !isServiceError(result.reason, "forbidden"))
            throw result.reason;
        if (results.some(({ status }) => status === "fulfilled")) image.state = "reserved";
        return;
      }
      case "reserved":
        if (givesUp) {
          await Promise.all(both.map((one) => one.release(owned(image.id, image.bytes))));
          image.state = "cleared";
        } else {
          records.add(image.id);
          image.state = "stored";
        }
        return;
      case "stored":
        await Promise.all(both.map((one) => one.release(owned(image.id, image.bytes))));
        image.state = "released";
        return;
      case "released":
        await Promise.all(both.map((one) => one.release(owned(image.id, image.bytes))));
        records.delete(image.id);
        image.state = "cleared";
        return;
      case "cleared":
        await usage.release(owned(image.id, image.bytes));
        replace(slot);
        return;
      case "abandoned":
        replace(slot);
    }
  }

  function replace(slot: number): void {
    slots[slot] = newImage();
  }

  function sumOf(...states: Image["state"][]) {
    const counted = images.filter(({ state }) => states.includes(state));
    return { images: counted.length, bytes: counted.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  for (const { steps, dies, isLater } of groups) {
    await Promise.all(steps.map(advance));
    const least = sumOf("reserved", "stored");
    const most = sumOf("reserved", "stored", "abandoned");
    const usage = await usageOf(0).usage(OWNER);
    expect(usage.images).toBeLessThanOrEqual(LIMIT);
    expect(usage.images).toBeGreaterThanOrEqual(least.images);
    expect(usage.images).toBeLessThanOrEqual(most.images);
    expect(usage.bytes).toBeGreaterThanOrEqual(least.bytes);
    expect(usage.bytes).toBeLessThanOrEqual(most.bytes);
    if (dies !== null) usages[dies] = start();
    if (!isLater) continue;
    nowMs += 16 * 60_000;
    // A process that has reserved quota for so many minutes without storing has died.
    for (const image of images) if (image.state === "reserved") image.state = "abandoned";
  }

  nowMs += 16 * 60_000;
  for (const image of images) if (image.state === "reserved") image.state = "abandoned";
  await usageOf(0).reserve(owned("last", 0), {});
  await usageOf(0).release(owned("last", 0));
  expect(await usageOf(1).usage(OWNER)).toEqual(sumOf("stored"));
}

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-owners-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test.each<[string, number, () => Promise<BlobStore>]>([
  ["memory", 250, async () => createMemoryBlobStore()],
  ["the file system", 25, async () => createFsBlobStore({ directory: await mkdtemp(join(root, "store-")) })],
])(
  "on a store in %s, usage equals the stored images after any sequence of steps",
  async (_name, numRuns, createStore) => {
    await fc.assert(
      fc.asyncProperty(fc.array(GROUP, { minLength: 1, maxLength: 25 }), async (groups) => {
        await runModel(await createStore(), groups);
      }),
      { numRuns },
    );
  },
);
