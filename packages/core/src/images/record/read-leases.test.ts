import { expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { created, type ImageSite, readyAnswerOf } from "../../../test/image-site.ts";
import { createLifeSite, HOUR } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageAdmin } from "../life/image-admin.ts";

const LEASE_MS = 400;

/** Two processes on a remote store; the first takes leases. Counts its look-ups. */
function createSites(options: { readLeaseMs?: number } = { readLeaseMs: LEASE_MS }) {
  const shared = createMemoryBlobStore();
  const traffic = { lookUps: 0, isCut: false, isFull: false };
  const store = tapStore(shared, ({ method, key }) => {
    if (traffic.isCut) throw new ServiceError("store_unavailable", "The store cannot be reached");
    if (method === "get" && key.endsWith("/record")) traffic.lookUps++;
  });
  const site = createLifeSite({ store, ...options });
  const otherStore = tapStore(shared, ({ method, ifRevision }) => {
    if (traffic.isFull && method === "put" && ifRevision) throw new ServiceError("no_space", "Full");
  });
  const other = createLifeSite({ store: otherStore, clock: site.clock });
  return { shared, traffic, site, other };
}

/** The status of a read by the fast path alone; `null`: the usual path must answer. */
function readNow({ images }: ImageSite, id: string): number | null {
  const reply = images.answerNow?.(createCall("GET", `/api/images/${id}.png`));
  return reply === undefined ? null : readyAnswerOf(reply).status;
}

/** Uploads an image, and reads it until a lease serves it. */
async function hotImage(site: ImageSite) {
  const image = created(await site.create());
  const read = async () => {
    await site.images.handle(createCall("GET", `/api/images/${image.id}.png`));
    return readNow(site, image.id);
  };
  await expect.poll(read).toBe(200);
  return image;
}

test("a leased picture is served without a look-up, and the next one comes when the lease has ended", async () => {
  const { site, traffic } = createSites({ readLeaseMs: 4000 });
  const { id } = await hotImage(site);
  const before = traffic.lookUps;
  for (let read = 0; read < 100; read++) expect(readNow(site, id)).toBe(200);
  expect(traffic.lookUps).toBe(before);
  await expect.poll(() => readNow(site, id)).toBeNull();
  expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(200);
  expect(traffic.lookUps).toBe(before + 1);
  expect(readNow(site, id)).toBe(200);
});

test("without leases every read looks its record up", async () => {
  const { site } = createSites({});
  const { id } = created(await site.create());
  await site.send("GET", `/api/images/${id}.png`);
  expect(readNow(site, id)).toBe(null);
});

test.each([
  ["withholding", (other: ImageSite, id: string) => other.images.withhold(id, { reason: "Removed" })],
  ["deletion", (other: ImageSite, id: string) => other.images.remove(id)],
  ["an edit", (other: ImageSite, id: string) => other.images.edit(id, { name: "another" })],
  [
    "withholding while an earlier call waits",
    async (other: ImageSite, id: string) => {
      void other.images.withhold(id, { reason: "Removed" });
      const status = async () => (await other.send("GET", `/api/images/${id}.png`)).status;
      await expect.poll(status).toBe(451);
      await other.images.withhold(id, { reason: "Removed" });
    },
  ],
  [
    "deletion in a full store",
    (other: ImageSite, id: string, traffic: { isFull: boolean }) => {
      traffic.isFull = true;
      return other.images.remove(id);
    },
  ],
  [
    "withholding by a command",
    async ({ store, clock }: ImageSite, id: string) => {
      // The command closes its stores.
      const admin = createImageAdmin({
        storage: { ...store, close: async () => undefined },
        now: () => clock.now,
      });
      await admin.withhold(id, { reason: "Removed" });
      await admin.close();
    },
  ],
])(
  "%s in a process without leases resolves when no other process serves the earlier state",
  async (_what, change) => {
    const { site, other, traffic } = createSites();
    const { id } = await hotImage(site);
    let isOver = false;
    const statusAtEnd = change(other, id, traffic).then(() => {
      isOver = true;
      return readNow(site, id);
    });
    // The order of the two ends counts, however long each takes.
    while (!isOver && readNow(site, id) === 200) await new Promise(setImmediate);
    expect(await statusAtEnd).toBe(null);
    for (let read = 0; read < 1000; read++) expect(readNow(site, id)).toBe(null);
  },
);

test("a process that cannot reach the store serves no longer than its lease", async () => {
  const { site, other, traffic } = createSites();
  const { id } = await hotImage(site);
  traffic.isCut = true;
  await other.images.withhold(id, { reason: "Removed" });
  expect(readNow(site, id)).toBe(null);
  await expect(site.send("GET", `/api/images/${id}.png`)).resolves.toMatchObject({ status: 503 });
});

test.each([-1, LEASE_MS, HOUR])("a lease ends when the clock is set by %i ms", async (byMs) => {
  const { site } = createSites({ readLeaseMs: 10_000 });
  const { id } = await hotImage(site);
  site.clock.now += byMs;
  expect(readNow(site, id)).toBe(byMs === LEASE_MS ? 200 : null);
  site.clock.now += HOUR;
  expect(readNow(site, id)).toBe(null);
});

test("an image that is withheld or processed is not leased", async () => {
  const { site } = createSites();
  const { id } = await hotImage(site);
  await site.images.withhold(id, { reason: "Removed" });
  await site.images.release(id);
  expect(readNow(site, id)).toBe(null);
});
