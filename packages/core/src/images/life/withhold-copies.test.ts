import { createHash } from "node:crypto";
import { acceptAll, cleanedTo, createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, created, eventually, type ImageSite, storedRecord } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const CLEAN = Buffer.from("a clean picture");
const COURT = { reason: "By order of the court.", copies: true };

const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const statusOf = async (site: ImageSite, id: string) => (await site.send("GET", `/${id}`)).status;

test.each([
  ["the same", acceptAll, PNG],
  ["cleaned", createCleaning(), CLEAN],
] as const)(
  "an image that is withheld with its copies while it is processed stays so when another process stores %s bytes, and can be released",
  async (_what, answer, original) => {
    const first = createLifeSite({ renderer: createFakeRenderer(), asyncAfterMs: 0 });
    const { id } = created(await first.create());
    await first.renderer.next();
    await first.images.withhold(id, COURT);
    await first.images.deny({ sha256: hashOf(CLEAN), reason: "Known abuse." });
    first.kill();
    first.clock.now += 16_000;
    const next = first.another({ renderer: createFakeRenderer(answer) });
    await eventually(async () => expect((await storedRecord(next.store, id))?.processing).toBeNull());
    expect(await storedRecord(next.store, id)).toMatchObject({ failure: null });
    expect(await statusOf(next, id)).toBe(451);
    expect(await bytesAt(next.store, `${id}/original`)).toEqual(original);
    await next.images.release(id);
    expect((await next.send("GET", `/api/images/${id}.json`)).status).toBe(200);
  },
);

function createCleaning(): (admitting: Parameters<typeof cleanedTo>[0]) => void {
  return (admitting) => void cleanedTo(admitting, CLEAN).then(admitting.accept);
}

test("an image that is stored while it is withheld with its copies is not refused by that denial", async () => {
  const store = createMemoryBlobStore();
  const site = createLifeSite({ store, renderer: createFakeRenderer(), asyncAfterMs: 0 });
  const { id } = created(await site.create());
  const admitting = await site.renderer.next();
  let isDone = false;
  const tapped = tapStore(store, async ({ method, key }) => {
    if (isDone || method !== "put" || key !== `${id}/record`) return;
    isDone = true;
    admitting.accept();
    await eventually(async () => expect((await storedRecord(store, id))?.processing).toBeNull());
  });
  const operator = createLifeSite({ store: tapped, clock: site.clock, processUploads: false });
  await operator.images.withhold(id, COURT);
  expect(isDone).toBe(true);
  expect(await statusOf(operator, id)).toBe(451);
});

test.each([
  ["damaged", '{"v":1', "damaged"],
  ["of a newer release", '{"v":9}', "store_unavailable"],
])(
  "a takedown of all copies withholds the others if the record of one is %s, and rejects",
  async (_what, bytes, code) => {
    const site = createLifeSite();
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) {
      site.clock.now += 1;
      ids.push(created(await site.create()).id);
    }
    const [target = "", odd = "", ...others] = ids;
    const whole = await bytesAt(site.store, `${odd}/record`);
    await site.store.put(`${odd}/record`, Buffer.from(bytes));
    await expect(site.images.withhold(target, COURT)).rejects.toMatchObject({ code });
    for (const id of [target, ...others]) expect(await statusOf(site, id)).toBe(451);
    // Once it is readable, a repeated call withholds it too.
    await site.store.put(`${odd}/record`, whole ?? Buffer.alloc(0));
    await site.images.withhold(target, COURT);
    expect(await statusOf(site, odd)).toBe(451);
  },
);

test("a takedown of all copies of an image whose record is damaged withholds it, and says that its copies are unknown", async () => {
  const site = createLifeSite();
  const [first, second] = [created(await site.create()), created(await site.create())];
  await site.store.put(`${second.id}/record`, Buffer.from("garbage"));
  for (let n = 0; n < 2; n++) {
    await expect(site.images.withhold(second.id, COURT)).rejects.toMatchObject({
      code: "damaged",
      message: `Image ${second.id} is withheld, but not its copies: its damaged record does not tell its bytes`,
    });
  }
  expect(await statusOf(site, second.id)).toBe(451);
  expect(await statusOf(site, first.id)).toBe(200);
  expect((await site.create()).status).toBe(201);
  await site.images.withhold(second.id, { reason: COURT.reason });
});

test("a release with copies undoes one takedown, names images that another withholds, and is repeatable from any of its images", async () => {
  const log: { id?: string; sha256?: string; by?: string; text: string }[] = [];
  const info = (fields: object, text: string) => void log.push({ ...fields, text });
  const logger = { info, warn() {}, error() {} };
  const site = createLifeSite({ renderer: createFakeRenderer(createCleaning()), logger });
  const OTHER = Buffer.concat([PNG, Buffer.from("other")]);
  const { images } = site;
  const ids: string[] = [];
  for (const file of [PNG, OTHER, PNG]) ids.push(created(await site.create({ file })).id);
  const [first = "", second = "", third = ""] = ids;
  await images.deny({ sha256: hashOf(PNG), reason: "Known abuse." });
  await images.withhold(third, { reason: "An older order." });
  await images.withhold(first, COURT);
  expect((await site.create()).status).toBe(451);
  for (let run = 0; run < 2; run++) {
    const { released, withheld } = await images.release(second, { copies: true, by: "anna" });
    expect([released.sort(), withheld]).toEqual([[first, second].sort(), [third]]);
  }
  for (const id of [first, second]) expect(await statusOf(site, id)).toBe(200);
  expect(await statusOf(site, third)).toBe(451);
  // An earlier denial stays.
  expect((await site.create()).json.detail).toBe("Known abuse.");
  await images.allow({ sha256: hashOf(PNG) });
  expect((await site.create()).status).toBe(201);
  const lines = log
    .filter(({ by }) => by === "anna")
    .map(({ id, sha256, text }) => `${text} ${id ?? sha256}`);
  const allowed = [hashOf(PNG), hashOf(CLEAN)].map((hash) => `bytes allowed ${hash}`);
  const released = [first, second].map((id) => `image released ${id}`);
  expect(new Set(lines)).toEqual(new Set([...allowed, ...released]));
});

test("a release without copies leaves the copies withheld, and a later one with copies finishes it", async () => {
  const site = createLifeSite();
  const [first, second] = [created(await site.create()), created(await site.create())];
  await site.images.withhold(first.id, COURT);
  expect(await site.images.release(first.id)).toEqual({ released: [first.id], withheld: [] });
  expect([await statusOf(site, second.id), (await site.create()).status]).toEqual([451, 451]);
  await site.images.release(first.id, { copies: true });
  expect([await statusOf(site, second.id), (await site.create()).status]).toEqual([200, 201]);
});

test("a deliberate second takedown after a release is another act, whose release does not touch the first", async () => {
  const site = createLifeSite();
  const [first, second] = [created(await site.create()), created(await site.create())];
  await site.images.withhold(first.id, COURT);
  await site.images.release(first.id);
  await site.images.withhold(first.id, COURT);
  const { released, withheld } = await site.images.release(first.id, { copies: true });
  expect([released, withheld]).toEqual([[first.id], [second.id]]);
  expect((await site.create()).status).toBe(451);
});

test("a sweep decides the reports of images whose deletion was killed before it", async () => {
  const site = createLifeSite({ reports: true });
  const { id } = created(await site.create());
  await site.send("POST", "/api/reports.json", { fields: { id, reason: "other" } });
  const tapped = tapStore(site.store, async ({ method, key }) => {
    if (method === "put" && key === `reports/${id}`) await new Promise(() => {});
  });
  const dying = createLifeSite({ store: tapped, clock: site.clock, reports: true });
  void dying.images.remove(id);
  await eventually(async () => expect((await storedRecord(site.store, id))?.gone).not.toBeNull());
  dying.kill();
  site.clock.now += 1;
  await site.images.sweep();
  for await (const { decision } of site.images.reports.list()) expect(decision?.decision).toBe("removed");
});
