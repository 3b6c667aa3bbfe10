import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { acceptAll, cleanedTo, createFakeRenderer } from "../../../test/fake-renderer.ts";
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
