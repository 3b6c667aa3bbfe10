import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import type { CallOptions } from "../../../test/calls.ts";
import {
  type Answer,
  created,
  createSite,
  eventually,
  type ImageSite,
  type SiteOptions,
  storedRecord,
} from "../../../test/image-site.ts";
import {
  anotherProcess,
  createLifeSite,
  DAY,
  HOUR,
  MINUTE,
  readsOf,
  STORES,
  statusesOf,
  tracesOf,
} from "../../../test/life-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";
import type { WithholdOptions } from "./withhold.ts";

const COURT = { reason: "By order of the court.", authority: "https://court.example/cases/7?a=b" };

interface Scene {
  site: ImageSite;
  id: string;
  pin: string;
}

async function siteWithImage(options: SiteOptions = {}): Promise<Scene> {
  const site = createLifeSite(options);
  return { site, ...created(await site.create()) };
}

/** Every request that changes an image with its PIN, or shows the form for it. */
async function edits({ site, id, pin }: Scene): Promise<Answer[]> {
  const json = `/api/images/${id}.json`;
  const search = `pin=${pin}`;
  const requests: [string, string, CallOptions][] = [
    ["GET", `/${id}/edit`, { search }],
    ["HEAD", `/${id}/edit`, { search }],
    ["POST", `/${id}/edit`, { fields: { pin, action: "update", name: "Renamed" } }],
    ["POST", `/${id}/edit`, { fields: { pin, action: "delete", confirm: "yes" } }],
    ["PATCH", json, { search, fields: { name: "Renamed" } }],
    ["PATCH", json, { fields: { name: "Without a PIN" } }],
    ["DELETE", json, { search }],
    ["DELETE", json, {}],
  ];
  const answers: Answer[] = [];
  for (const [method, path, options] of requests) answers.push(await site.send(method, path, options));
  return answers;
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a withheld image answers 451 to every read, on every process at once, until it is released", async () => {
    const scene = await siteWithImage({ store: createStore() });
    const { site, id } = scene;
    const other = anotherProcess(site);
    // Loads the image into the memory of both processes.
    expect(await statusesOf(site, readsOf(id))).toEqual([200, 206, 304]);
    expect(await statusesOf(other, readsOf(id))).toEqual([200, 206, 304]);
    await site.images.withhold(id, COURT);
    expect(await statusesOf(other, readsOf(id))).toEqual([451]);
    expect(await statusesOf(site, readsOf(id))).toEqual([451]);
    expect((await edits(scene)).map(({ status }) => status)).toEqual(Array(8).fill(451));
    await other.images.release(id);
    expect(await statusesOf(site, readsOf(id))).toEqual([200, 206, 304]);
    expect(await statusesOf(other, readsOf(id))).toEqual([200, 206, 304]);
    expect((await site.send("GET", `/api/images/${id}.json`)).json.name).toBe("picture.png");
    expect([...site.errors, ...other.errors]).toEqual([]);
  });
});

test("the 451 shows reason and authority, to programs and to people", async () => {
  const { site, id } = await siteWithImage();
  await site.images.withhold(id, COURT);
  const answer = await site.send("GET", `/api/images/${id}.png`);
  expect(answer.json).toMatchObject({
    status: 451,
    title: "Unavailable For Legal Reasons",
    detail: COURT.reason,
  });
  expect(answer.headers).toMatchObject({
    Link: '<https://court.example/cases/7?a=b>; rel="blocked-by"',
    "Cache-Control": "no-store",
  });
  const page = await site.send("GET", `/${id}/view`, { headers: { accept: "text/html" } });
  expect([page.status, page.text]).toEqual([451, `problem 451: ${COURT.reason}`]);
  expect(page.headers.Link).toBe(answer.headers.Link);

  await site.images.withhold(id, { reason: "Other words." });
  const again = await site.send("GET", `/api/images/${id}.png`);
  expect([again.json.detail, again.headers.Link]).toEqual(["Other words.", undefined]);
});

test("a withheld image answers 451 instead of 410, and 404 once it is gone for good", async () => {
  const { site, id } = await siteWithImage({ tombstoneDays: 7 });
  await site.images.withhold(id, COURT);
  for (const sweeps of [false, true]) {
    site.clock.now += sweeps ? 0 : DAY;
    if (sweeps) expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
    expect(await statusesOf(site, readsOf(id))).toEqual([451]);
  }
  expect(await tracesOf(site.store, id)).toEqual([`${id}/record`, "entry"]);
  site.clock.now += 7 * DAY;
  expect(await statusesOf(site, readsOf(id))).toEqual([404]);
  await site.images.sweep();
  expect(await tracesOf(site.store, id)).toEqual([]);
});

test("an image that is removed while it is withheld still answers 451", async () => {
  const { site, id } = await siteWithImage();
  await site.images.withhold(id, COURT);
  await site.images.remove(id);
  expect(await statusesOf(site, readsOf(id))).toEqual([451]);
  expect(await tracesOf(site.store, id)).not.toContain(`${id}/original`);
});

describe("after deleteAfter", () => {
  test("a withheld image answers 404, a sweep removes its bytes, and after tombstoneDays its record", async () => {
    const { site, id } = await siteWithImage();
    // The sweep has postponed its next look to the image's expiry.
    site.clock.now += HOUR;
    await site.images.sweep();
    await site.images.withhold(id, { ...COURT, deleteAfter: new Date(site.clock.now + 2 * HOUR) });
    site.clock.now += 2 * HOUR - 1;
    await site.images.sweep();
    expect(await statusesOf(site, readsOf(id))).toEqual([451]);
    expect(await tracesOf(site.store, id)).toContain(`${id}/original`);
    site.clock.now += 1;
    expect(await statusesOf(site, readsOf(id))).toEqual([404]);
    expect(await site.images.sweep()).toMatchObject({ emptied: 1, failed: 0 });
    // The record stays: without it a restored backup would bring the image back.
    expect((await tracesOf(site.store, id)).filter((key) => key !== "entry")).toEqual([`${id}/record`]);
    expect(await storedRecord(site.store, id)).toMatchObject({ name: "", sha256: "", agent: null });
    site.clock.now += 30 * DAY;
    expect(await site.images.sweep()).toMatchObject({ failed: 0 });
    expect((await tracesOf(site.store, id)).filter((key) => key !== "entry")).toEqual([]);
  });

  test.each([true, false])(
    "a deleteAfter beyond the expiry has the same effect (swept at the expiry: %s)",
    async (isSwept) => {
      const { site, id } = await siteWithImage();
      await site.images.withhold(id, { ...COURT, deleteAfter: new Date(site.clock.now + 3 * DAY) });
      site.clock.now += DAY;
      if (isSwept) await site.images.sweep();
      site.clock.now += 2 * DAY - 1;
      expect(await statusesOf(site, readsOf(id))).toEqual([451]);
      site.clock.now += 1;
      expect(await statusesOf(site, readsOf(id))).toEqual([404]);
      site.clock.now += 30 * DAY;
      expect(await statusesOf(site, readsOf(id))).toEqual([404]);
      await site.images.sweep();
      expect(await tracesOf(site.store, id)).toEqual([]);
    },
  );

  test("a release before deleteAfter restores the image's own expiry", async () => {
    const { site, id } = await siteWithImage();
    await site.images.withhold(id, { ...COURT, deleteAfter: new Date(site.clock.now + HOUR) });
    await site.images.release(id);
    site.clock.now += DAY - 1;
    await site.images.sweep();
    expect(await statusesOf(site, readsOf(id))).toEqual([200, 206, 304]);
    site.clock.now += 1;
    expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
  });

  test("a release after deleteAfter rejects with not_found, even when the clock is set back", async () => {
    const { site, id } = await siteWithImage();
    await site.images.withhold(id, { ...COURT, deleteAfter: new Date(site.clock.now + HOUR) });
    site.clock.now += HOUR;
    await expect(site.images.release(id)).rejects.toMatchObject({ code: "not_found" });
    expect((await site.send("GET", `/${id}`)).status).toBe(404);
    site.clock.now -= MINUTE;
    await expect(site.images.release(id)).rejects.toMatchObject({ code: "not_found" });
    expect(await statusesOf(site, readsOf(id))).toEqual([404]);
  });
});

test("an image withheld during processing stays withheld when it is ready, until it is released", async () => {
  const renderer = createFakeRenderer();
  const site = createSite({ renderer, sweepEveryMs: false });
  const { id } = created(await site.create({ headers: { prefer: "respond-async" } }));
  const admitting = await renderer.next();
  await site.images.withhold(id, COURT);
  expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(451);
  admitting.accept();
  await eventually(async () => expect(renderer.pending).toHaveLength(0));
  expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(451);
  await site.images.release(id);
  // Withholding took the lease. The first read after its end enqueues the image again.
  site.clock.now += MINUTE;
  renderer.answer = ({ accept }) => accept();
  await eventually(async () => expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(200));
  expect(site.errors).toEqual([]);
});

test("an image withheld during processing stays withheld when inspect refuses it, and is held after its release", async () => {
  const options = { renderer: createFakeRenderer(), asyncAfterMs: 0, inspect: () => ({ refuse: "No." }) };
  const site = createSite({ ...options, sweepEveryMs: false });
  const { id } = created(await site.create());
  await site.renderer.next();
  await site.images.withhold(id, COURT);
  site.kill();
  site.clock.now += MINUTE;
  const next = site.another({ ...options, renderer: createFakeRenderer(acceptAll) });
  await eventually(async () => expect((await storedRecord(next.store, id))?.processing).toBeNull());
  expect((await next.send("GET", `/${id}`)).status).toBe(451);
  await next.images.release(id);
  expect((await next.send("GET", `/api/images/${id}.json`)).json).toMatchObject({ status: "held" });
});

test("withhold() wins over a concurrent edit", async () => {
  const { site, id, pin } = await siteWithImage();
  const held = holdUp(({ method, key }) => method === "put" && key === `${id}/record`);
  const slow = anotherProcess(site, { store: tapStore(site.store, held.tap) });
  const withheld = slow.images.withhold(id, COURT);
  await held.reached;
  const renamed = await site.send("PATCH", `/api/images/${id}.json`, {
    search: `pin=${pin}`,
    fields: { name: "Renamed" },
  });
  expect(renamed.status).toBe(200);
  held.letGo();
  await withheld;
  expect(await statusesOf(site, readsOf(id))).toEqual([451]);
  expect(await storedRecord(site.store, id)).toMatchObject({ name: "Renamed" });
});

test("withhold(), release() and remove() reject for an unknown or gone image", async () => {
  const site = createLifeSite({ tombstoneDays: 7 });
  const expired = created(await site.create());
  site.clock.now += DAY;
  const deleted = created(await site.create());
  await site.images.remove(deleted.id);
  for (const [id, code] of [
    ["AAAAAAAAAAAAAAAAAAAAAA", "not_found"],
    [expired.id, "gone"],
    [deleted.id, "gone"],
  ] as const) {
    await expect(site.images.withhold(id, COURT)).rejects.toMatchObject({ code: "not_found" });
    await expect(site.images.release(id)).rejects.toMatchObject({ code: "not_found" });
    await expect(site.images.remove(id)).rejects.toMatchObject({ code });
  }
});

test("withhold() rejects options out of range with a TypeError and changes nothing", async () => {
  const rows: [string, Record<string, unknown>][] = [
    ["no reason", { reason: undefined }],
    ["an empty reason", { reason: " " }],
    ["a reason of more than 1000 characters", { reason: "x".repeat(1001) }],
    ["an authority that is not a URL", { authority: "the court" }],
    ["an authority of another scheme", { authority: "mailto:court@example.com" }],
    ["a deleteAfter in the past", { deleteAfter: new Date("2026-03-01T12:00:00.000Z") }],
    ["a deleteAfter that is an invalid date", { deleteAfter: new Date("tomorrow") }],
    ["a deleteAfter that is a string", { deleteAfter: "2027-01-01" }],
  ];
  for (const [what, wrong] of rows) {
    const { site, id } = await siteWithImage();
    const before = await storedRecord(site.store, id);
    // Values that JavaScript code may pass.
    const options = { ...COURT, ...wrong } as unknown as WithholdOptions;
    await expect(site.images.withhold(id, options), what).rejects.toBeInstanceOf(TypeError);
    expect(await storedRecord(site.store, id)).toEqual(before);
  }
});

test("an authority with any characters becomes a valid header", async () => {
  const { site, id } = await siteWithImage();
  await site.images.withhold(id, { reason: "Ö", authority: 'https://court.example/ö>; rel="x"\r\nX: y' });
  const { Link } = (await site.send("GET", `/${id}`)).headers;
  expect(Link).toMatch(/^<https:\/\/court\.example\/[!-;=?-~]+>; rel="blocked-by"$/);
});
