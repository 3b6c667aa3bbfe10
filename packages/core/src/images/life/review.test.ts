import { type Admitting, PLAIN } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import {
  created,
  eventually,
  type ImageSite,
  keysOf,
  type SiteOptions,
  storedRecord,
} from "../../../test/image-site.ts";
import {
  anotherProcess,
  BROWSER,
  createLifeSite,
  DAY,
  entriesOf,
  HOUR,
  readsOf,
  STORES,
  statusesOf,
  tracesOf,
  willingRenderer,
} from "../../../test/life-site.ts";
import { createImageAdmin } from "./image-admin.ts";

const ANNA = { authorize: () => ({ owner: "anna" }) };

/** A service whose next upload is held; the later ones are accepted. */
async function siteWithHeld(
  options: SiteOptions = {},
): Promise<{ site: ImageSite; id: string; pin: string }> {
  const site = createLifeSite({ inspect: () => "hold", ...options });
  return { site, ...created(await site.create()) };
}

async function statesOf({ images }: ImageSite): Promise<string[]> {
  const states: string[] = [];
  for await (const { state } of images.list()) states.push(state);
  return states;
}

test("a held image has no preview and no colour in any reply, nor in a list, until it is accepted", async () => {
  const preview = { placeholder: "IPgBBYDpX4uWhVNlW/hzirPy/lu5", color: "#aabbcc" };
  const renderer = Object.assign(willingRenderer(), {
    answer: (admitting: Admitting) => admitting.accept({ ...PLAIN, ...preview }),
  });
  const { site, id } = await siteWithHeld({ renderer, ...ANNA });
  const path = `/api/images/${id}.json`;
  const none = { status: "held", placeholder: null, color: null };
  expect((await site.create()).json).toMatchObject(none);
  for (const read of [path, `/${id}`, `/api/images/${id}.webp`]) {
    expect((await site.send("GET", read)).json, read).toMatchObject(none);
  }
  const list = await site.send("GET", "/api/images.json");
  expect(list.text).not.toContain(preview.placeholder);
  expect(list.text).not.toContain(preview.color);
  await site.images.accept(id);
  expect((await site.send("GET", path)).json).toMatchObject({ status: "ready", ...preview });
});

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("every address of a held image answers 202 on every process, until it is accepted", async () => {
    const { site, id } = await siteWithHeld({ store: createStore() });
    const other = anotherProcess(site);
    expect(await statusesOf(site, readsOf(id))).toEqual([202]);
    expect(await statusesOf(other, readsOf(id))).toEqual([202]);
    const address = await site.images.address(id, { format: "jpg", resize: "8x8" }, { signed: true });
    const [path = "", search = ""] = address.split("?");
    expect((await site.send("GET", path, { search })).status).toBe(202);
    await other.images.accept(id);
    expect((await site.send("GET", `/api/images/${id}.png`)).status).toBe(200);
    expect((await other.send("GET", `/api/images/${id}.json`)).json.status).toBe("ready");
    expect(await storedRecord(site.store, id)).not.toHaveProperty("held");
    expect((await storedRecord(site.store, id)) as unknown).toMatchObject({ v: 1 });
  });

  test("a held image does not expire, and its life counts from its acceptance", async () => {
    const { site, id } = await siteWithHeld({ store: createStore() });
    site.clock.now += 30 * DAY;
    await site.images.sweep();
    await site.images.sweep();
    expect(await statusesOf(site, readsOf(id))).toEqual([202]);
    expect(await entriesOf(site.store)).toEqual([]);
    await site.images.accept(id);
    expect((await storedRecord(site.store, id))?.expiresAt).toBe(site.clock.now + DAY);
    site.clock.now += DAY - 1;
    expect((await site.send("GET", `/${id}`)).status).toBe(200);
    site.clock.now += 1;
    expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
    expect((await site.send("GET", `/${id}`)).status).toBe(410);
  });

  test("a refused image answers 404 with the reason for a day, whatever its age, and its bytes are removed", async () => {
    const { site, id } = await siteWithHeld({ store: createStore(), ...ANNA });
    expect(await site.images.usage("anna")).toMatchObject({ images: 1 });
    site.clock.now += 30 * DAY;
    await site.images.refuse(id, "This is a map.");
    const answer = await site.send("GET", `/api/images/${id}.json`);
    expect([answer.status, answer.json.detail]).toEqual([404, "This is a map."]);
    expect(new Set(await tracesOf(site.store, id))).toEqual(new Set([`${id}/record`, "entry"]));
    expect(await site.images.usage("anna")).toMatchObject({ images: 0, bytes: 0 });
    expect(await statesOf(site)).toEqual(["failed"]);
    site.clock.now += DAY;
    await site.images.sweep();
    expect(await tracesOf(site.store, id)).toEqual([]);
  });

  test("of two operators who decide at once one succeeds, and the other gets conflict with the new state", async () => {
    const { site, id } = await siteWithHeld({ store: createStore() });
    const other = anotherProcess(site);
    const decisions = await Promise.allSettled([
      site.images.accept(id),
      other.images.refuse(id, "No."),
      other.images.accept(id),
    ]);
    expect(decisions.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const losers = decisions.filter((decision) => decision.status === "rejected");
    expect(losers.map(({ reason }) => reason)).toEqual([
      expect.objectContaining({
        code: "conflict",
        message: expect.stringMatching(/^The image is not held: it is (ready|failed)$/),
      }),
      expect.objectContaining({ code: "conflict" }),
    ]);
  });

  test("a takedown of a held image answers 451, and its release holds it again", async () => {
    const { site, id } = await siteWithHeld({ store: createStore() });
    await site.images.withhold(id, { reason: "By order of the court." });
    expect(await statusesOf(site, readsOf(id))).toEqual([451]);
    await expect(site.images.accept(id)).rejects.toMatchObject({
      code: "conflict",
      message: "The image is not held: it is withheld",
    });
    await expect(site.images.refuse(id, "No.")).rejects.toMatchObject({ code: "conflict" });
    site.clock.now += 30 * DAY;
    await site.images.release(id);
    expect(await statusesOf(site, readsOf(id))).toEqual([202]);
    await site.images.accept(id);
    expect((await site.send("GET", `/${id}`)).status).toBe(200);
  });

  test("the uploader can delete a held image, and cannot change it", async () => {
    const removed: string[] = [];
    const { site, id, pin } = await siteWithHeld({
      store: createStore(),
      onRemoved: (image) => removed.push(image.id),
    });
    const path = `/api/images/${id}.json`;
    const edited = await site.send("PATCH", path, { search: `pin=${pin}`, fields: { name: "Renamed" } });
    expect([edited.status, edited.json.detail]).toEqual([
      409,
      "This image waits for review: it can only be deleted now",
    ]);
    const form = await site.send("GET", `/${id}/edit`, { search: `pin=${pin}`, headers: BROWSER });
    expect(form.status).toBe(200);
    expect((await site.send("DELETE", path, { search: `pin=${pin}` })).status).toBe(204);
    // The delivery of its event ends after the reply.
    await eventually(async () => expect(await keysOf(site.store)).toEqual([`${id}/record`]));
    expect(await storedRecord(site.store, id)).not.toHaveProperty("held");
    expect((await site.send("GET", path)).status).toBe(410);
    await expect(site.images.accept(id)).rejects.toMatchObject({ code: "conflict" });
    // `onStored` was never called for it.
    expect(removed).toEqual([]);
  });
});

test("onStored and the log tell of an image when it is accepted, not when it is held", async () => {
  const stored: string[] = [];
  const lines: string[] = [];
  const note = (_facts: object, message: string) => lines.push(message);
  const { site, id } = await siteWithHeld({
    onStored: (image) => stored.push(image.id),
    logger: { info: note, warn: note, error: note },
  });
  expect([stored, lines]).toEqual([[], ["new storage", "image held"]]);
  await site.images.accept(id);
  expect([stored, lines]).toEqual([[id], ["new storage", "image held", "image stored"]]);
});

test("onPurge is not called for an image that was never served", async () => {
  const purged: string[] = [];
  const { site, id } = await siteWithHeld({ onPurge: (_image, why) => purged.push(why) });
  await site.images.accept(id);
  expect(purged).toEqual([]);
});

test("accept and refuse reject an unknown image, one that was never held, and a reason without text", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  await expect(site.images.accept(id)).rejects.toMatchObject({ code: "conflict" });
  await expect(site.images.refuse(id, "No.")).rejects.toMatchObject({ code: "conflict" });
  await expect(site.images.accept("A".repeat(22))).rejects.toMatchObject({ code: "not_found" });
  await expect(site.images.refuse(id, " ")).rejects.toThrow(/reason must be a text of 1 to 1000 characters/);
});

test("held images are listed and counted as such, and a command accepts them", async () => {
  const { site, id } = await siteWithHeld(ANNA);
  const admin = createImageAdmin({ storage: { ...site.store, close: async () => {} } });
  const listed: unknown[] = [];
  for await (const image of admin.list({ state: "held" })) listed.push(image);
  expect(listed).toMatchObject([{ id, state: "held", owner: "anna" }]);
  const { images, bytes, states } = await admin.stats();
  expect([images, states.held, states.ready]).toEqual([1, 1, 0]);
  expect(bytes).toBeGreaterThan(0);
  await admin.changeMany([id], (one, { accept }) => accept(one));
  expect((await site.send("GET", `/${id}`)).status).toBe(200);
  await admin.close();
});

test("a held image counts for its owner's quota", async () => {
  const site = createLifeSite({ ...ANNA, inspect: () => "hold", ownerLimits: { images: 1 } });
  expect((await site.create()).status).toBe(202);
  expect((await site.create()).status).toBe(403);
});

test("the page of a held image says that it waits for review", async () => {
  const { site, id } = await siteWithHeld();
  const page = await site.send("GET", `/${id}`, { headers: BROWSER });
  expect([page.status, page.text]).toEqual([
    202,
    "problem 202: This image is shown when its review is over. This page refreshes automatically.",
  ]);
  expect(page.headers.Refresh).toBe("30");
  site.clock.now += HOUR;
  expect((await site.send("GET", `/${id}/view`, { headers: BROWSER })).headers["Retry-After"]).toBe("30");
});
