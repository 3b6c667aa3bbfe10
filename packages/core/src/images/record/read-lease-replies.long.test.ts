import { expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { created, type ImageSite, readyAnswerOf, storedRecord } from "../../../test/image-site.ts";
import { BROWSER, createLifeSite, MINUTE, SECOND } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageAdmin } from "../life/image-admin.ts";

interface Image {
  id: string;
  pin: string;
}

/** A process with read leases, one without, and a third one, whose clock is ahead and whose traffic is counted. */
function createSites(readLeaseMs: number) {
  const shared = createMemoryBlobStore();
  const traffic = { announcements: 0, looked: 0 };
  const counted = tapStore(shared, ({ method, key }) => {
    if (method !== "get") return;
    if (key === "read-lease") traffic.announcements++;
    if (key.endsWith("/record")) traffic.looked++;
  });
  const leased = createLifeSite({ store: tapStore(shared, () => undefined), readLeaseMs });
  const { clock } = leased;
  const writer = createLifeSite({ store: tapStore(shared, () => undefined), clock });
  const third = createLifeSite({ store: counted, clock: { now: clock.now + 11 * SECOND } });
  return { shared, leased, writer, third, traffic };
}

/** The status of a read by a lease; `null`: there is none. */
function leasedStatus({ images }: ImageSite, id: string): number | null {
  const reply = images.answerNow?.(createCall("GET", `/api/images/${id}.png`));
  return reply === undefined ? null : readyAnswerOf(reply).status;
}

async function hotImage(site: ImageSite): Promise<Image> {
  const image = created(await site.create());
  const read = async () => {
    await site.images.handle(createCall("GET", `/api/images/${image.id}.png`));
    return leasedStatus(site, image.id);
  };
  await expect.poll(read).toBe(200);
  return image;
}

/** Begins a change of an image that a lease serves. Resolves when it is stored; `done` resolves with the change. */
async function changeStored(
  { shared, leased }: ReturnType<typeof createSites>,
  { id }: Image,
  change: () => Promise<unknown>,
): Promise<{ done: Promise<unknown> }> {
  const revision = async () => (await shared.stat(`${id}/record`))?.revision;
  const before = await revision();
  const done = change();
  await expect.poll(revision).not.toBe(before);
  expect(leasedStatus(leased, id)).toBe(200);
  return { done };
}

const READS: Record<string, (site: ImageSite, image: Image) => Promise<unknown>> = {
  GET: ({ send }, { id }) => send("GET", `/api/images/${id}.png`),
  HEAD: ({ send }, { id }) => send("HEAD", `/api/images/${id}.png`),
  "conditional GET": ({ send }, { id }) =>
    send("GET", `/api/images/${id}.png`, { headers: { "if-none-match": '"other"' } }),
  "GET of the record": ({ send }, { id }) => send("GET", `/api/images/${id}.json`),
  "GET of the record with an old revision": ({ send }, { id }) =>
    send("GET", `/api/images/${id}.json`, { headers: { "if-match": '"other"' } }),
  viewer: ({ send }, { id }) => send("GET", `/${id}/view`, { headers: BROWSER }),
  original: ({ send }, { id }) => send("GET", `/${id}`),
  "edit page": ({ send }, { id, pin }) =>
    send("GET", `/${id}/edit`, { headers: BROWSER, search: `pin=${pin}` }),
  "find()": ({ images }, { id }) => images.find(id),
  "open()": ({ images }, { id }) => images.open(id, { format: "png" }).then(({ body }) => body.destroy()),
};
const EDITS: typeof READS = {
  PATCH: ({ send }, { id, pin }) =>
    send("PATCH", `/api/images/${id}.json`, { search: `pin=${pin}`, fields: { name: "x" } }),
  "PATCH of an old revision": ({ send }, { id, pin }) =>
    send("PATCH", `/api/images/${id}.json`, {
      search: `pin=${pin}`,
      fields: { name: "x" },
      headers: { "if-match": '"other"' },
    }),
  DELETE: ({ send }, { id, pin }) => send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` }),
  "POST of the form": ({ send }, { id, pin }) =>
    send("POST", `/${id}/edit`, { headers: BROWSER, fields: { pin, action: "update", name: "x" } }),
  "edit()": ({ images }, { id }) => images.edit(id, { name: "x" }),
  "remove()": ({ images }, { id }) => images.remove(id),
  "withhold()": ({ images }, { id }) => images.withhold(id, { reason: "Removed" }),
};

test.each([
  ["deleted", (site: ImageSite, { id }: Image) => site.images.remove(id), { ...READS, ...EDITS }],
  [
    "withheld",
    (site: ImageSite, { id }: Image) => site.images.withhold(id, { reason: "Removed" }),
    { ...READS, PATCH: EDITS.PATCH, DELETE: EDITS.DELETE },
  ],
  ["edited", (site: ImageSite, { id }: Image) => site.images.edit(id, { name: "another" }), READS],
  [
    "edited to expire, and expired for the process that replies,",
    (site: ImageSite, { id }: Image) =>
      site.images.edit(id, { expiresAt: new Date(site.clock.now + 10 * SECOND) }),
    { ...READS, ...EDITS },
  ],
] as const)(
  "no reply of any process tells that an image was %s while another process shows it by a read lease",
  async (_what, change, asks) => {
    const sites = createSites(4000);
    const { leased, writer, third } = sites;
    const image = await hotImage(leased);
    const { done } = await changeStored(sites, image, () => change(writer, image));
    const replied = Object.entries(asks).flatMap(([how, ask]) =>
      [third, writer].map(async (site) => {
        await ask?.(site, image).catch(() => undefined);
        return `${how}: ${leasedStatus(leased, image.id)}`;
      }),
    );
    expect(new Set(await Promise.all(replied))).toEqual(
      new Set(Object.keys(asks).map((how) => `${how}: null`)),
    );
    await done;
  },
);

test("requests for one changed image share one wait, a client that aborts leaves it, and later requests do not wait", async () => {
  const sites = createSites(4000);
  const { leased, writer, third, traffic } = sites;
  const image = await hotImage(leased);
  const { done } = await changeStored(sites, image, () => writer.images.remove(image.id));
  const { send } = third;
  const path = `/api/images/${image.id}.png`;
  const client = new AbortController();
  const left = third.images.find(image.id, { signal: client.signal });
  const waiting = Array.from({ length: 20 }, () => send("GET", path));
  await expect.poll(() => traffic.looked >= 21 && traffic.announcements > 0).toBe(true);
  client.abort(new Error("The client left"));
  await expect(left).rejects.toThrow("The client left");
  expect(leasedStatus(leased, image.id)).toBe(200);
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(20).fill(410));
  await done;
  for (let read = 0; read < 20; read++) await send("GET", path);
  expect(traffic.announcements).toBe(1);
});

test("no reply waits for an image that was never shown before, that expired by itself, or that was changed over a minute ago", async () => {
  const sites = createSites(500);
  const { leased, writer, third, traffic } = sites;
  await hotImage(leased);
  const fresh = created(await writer.create());
  const [expiring, changed] = [created(await writer.create()), created(await writer.create())];
  void writer.images.edit(changed.id, { name: "another" });
  const isStored = async () => (await storedRecord(sites.shared, changed.id))?.name === "another";
  await expect.poll(isStored).toBe(true);
  expect((await third.send("GET", `/api/images/${fresh.id}.png`)).status).toBe(200);
  third.clock.now += MINUTE;
  expect((await third.send("GET", `/api/images/${changed.id}.json`)).status).toBe(200);
  third.clock.now = ((await storedRecord(sites.shared, expiring.id))?.expiresAt ?? 0) + 1;
  expect((await third.send("GET", `/api/images/${expiring.id}.png`)).status).toBe(410);
  expect((await third.send("GET", `/api/images/${expiring.id}.png`)).status).toBe(410);
  expect(traffic.announcements).toBe(0);
});

test("changeMany writes all images, 32 at a time, before the first change has outlasted the leases", async () => {
  const { leased, shared } = createSites(4000);
  await hotImage(leased);
  const ids = await Promise.all(Array.from({ length: 80 }, async () => created(await leased.create()).id));
  const writes = { running: 0, most: 0, stored: 0 };
  const counted = tapStore(shared, async ({ method, key }) => {
    if (method !== "put" || !key.endsWith("/record")) return;
    writes.most = Math.max(writes.most, ++writes.running);
    await new Promise(setImmediate);
    writes.running--;
    writes.stored++;
  });
  const admin = createImageAdmin({ storage: counted, now: () => leased.clock.now });
  const storedAtFirst: number[] = [];
  await admin.changeMany([...ids, "unknown"], async (id, { remove }) => {
    await remove(id).catch((error) => expect([id, error.code]).toEqual(["unknown", "not_found"]));
    if (id !== "unknown") storedAtFirst.push(writes.stored);
  });
  expect(Math.min(...storedAtFirst)).toBeGreaterThanOrEqual(80);
  expect(writes.most).toBeGreaterThan(1);
  expect(writes.most).toBeLessThanOrEqual(32);
  expect(storedAtFirst).toHaveLength(80);
  for (const id of ids) expect((await storedRecord(shared, id))?.gone?.why).toBe("deleted");
  await expect(
    admin.changeMany(ids, async () => {
      throw new Error("refused");
    }),
  ).rejects.toThrow("refused");
});

test("a takedown of copies writes all of them before the first has outlasted the leases", async () => {
  const { leased, shared } = createSites(4000);
  const { id } = await hotImage(leased);
  for (let copies = 0; copies < 40; copies++) created(await leased.create());
  const puts: string[] = [];
  const noted = tapStore(shared, ({ method, key }) => {
    if (method === "put" && /^audit|\/record$/.test(key))
      puts.push(key.startsWith("audit") ? "act" : "record");
  });
  const admin = createImageAdmin({ storage: noted, now: () => leased.clock.now });
  await admin.withhold(id, { reason: "By order of the court.", copies: true });
  const ofImage = ["record", "act", "act"];
  expect(puts).toEqual([...ofImage, ...Array(40).fill("record"), ...Array(40).fill("act")]);
});
