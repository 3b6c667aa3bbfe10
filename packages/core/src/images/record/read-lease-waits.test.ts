import { expect, test, vi } from "vitest";
import { tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { ReadLeases } from "./read-leases.ts";

const DAY = 86_400_000;

const delays = vi.hoisted((): number[] => []);
vi.mock("node:timers/promises", () => ({
  setTimeout: async (ms: number) => {
    delays.push(ms);
  },
}));

/** The leases of one process on a store. */
function leasesOf(store: BlobStore = createMemoryBlobStore(), leaseMs = 0, clock = { now: 0 }) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  return {
    store,
    clock,
    errors,
    leases: new ReadLeases({ store, leaseMs, now: () => clock.now, onError }),
  };
}

/** How long a change waits, in milliseconds. */
async function waitOf({ leases }: ReturnType<typeof leasesOf>): Promise<number> {
  delays.length = 0;
  await leases.outlast();
  return delays[0] ?? 0;
}

async function announced(site: ReturnType<typeof leasesOf>): Promise<void> {
  await expect.poll(() => site.leases.isValid(site.leases.now())).toBe(true);
}

test("a change waits for the longest lease of all processes, and for none a day after its last announcement", async () => {
  const [long, short] = [leasesOf(undefined, 5000), leasesOf(undefined, 1000)];
  const writer = leasesOf(long.store);
  expect(await waitOf(writer)).toBe(0);
  await announced(long);
  await announced({ ...leasesOf(long.store, 1000), errors: short.errors });
  expect(await waitOf(writer)).toBe(5052);
  writer.clock.now = DAY;
  expect(await waitOf(writer)).toBe(0);
  await announced(leasesOf(long.store, 1000, { now: DAY }));
  expect(await waitOf(writer)).toBe(1012);
});

test("changes during a read of the announcement share the next one, which sees what was announced meanwhile", async () => {
  const store = createMemoryBlobStore();
  const reads: (() => void)[] = [];
  const tapped = tapStore(store, async ({ method }) => {
    if (method === "get") await new Promise<void>((resolve) => reads.push(resolve));
  });
  const { leases } = leasesOf(tapped);
  delays.length = 0;
  const first = leases.outlast();
  await expect.poll(() => reads).toHaveLength(1);
  const others = Array.from({ length: 100 }, () => leases.outlast());
  reads[0]?.();
  await first;
  expect(delays).toEqual([]);
  await announced(leasesOf(store, 1000));
  await expect.poll(() => reads).toHaveLength(2);
  reads[1]?.();
  await Promise.all(others);
  expect(delays).toEqual(Array(100).fill(1012));
});

test.each([
  ["damaged", "{"],
  ["of a newer release", '{"v":2}'],
])("a change waits for the longest possible lease if the announcement is %s", async (_what, text) => {
  const writer = leasesOf();
  await writer.store.put("read-lease", Buffer.from(text));
  expect(await waitOf(writer)).toBe(10_102);
});

test("a process takes no lease before its duration is announced, and tries to announce it every ten seconds", async () => {
  const broken = tapStore(createMemoryBlobStore(), ({ method }) => {
    if (method === "put") throw new Error("The store cannot be reached");
  });
  const site = leasesOf(broken, 1000);
  for (let failures = 1; failures <= 3; failures++) {
    expect(site.leases.isValid(site.leases.now())).toBe(false);
    await expect.poll(() => site.errors).toHaveLength(failures);
    for (let read = 0; read < 100; read++) site.leases.isValid(site.leases.now());
    await new Promise(setImmediate);
    expect(site.errors).toHaveLength(failures);
    site.clock.now += 10_000;
  }
});

test("a process that was suspended for a day takes no lease before it has announced its duration again", async () => {
  const site = leasesOf(undefined, 1000);
  await announced(site);
  site.clock.now += DAY;
  expect(site.leases.isValid(site.leases.now())).toBe(false);
  await announced(site);
});
