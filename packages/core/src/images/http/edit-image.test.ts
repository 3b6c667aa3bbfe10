import { describe, expect, test } from "vitest";
import { type Answer, created, type ImageSite, type SiteOptions } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, MINUTE, STORES } from "../../../test/life-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";

interface Scene {
  site: ImageSite;
  id: string;
  pin: string;
  path: string;
}

async function siteWithImage(options: SiteOptions = {}): Promise<Scene> {
  const site = createLifeSite(options);
  const { id, pin } = created(await site.create());
  return { site, id, pin, path: `/api/images/${id}.json` };
}

/** A further process whose next change of the record is held up after it has read it. */
function slowProcess({ site, id }: Scene) {
  const held = holdUp(({ method, key }) => method === "put" && key === `${id}/record`);
  return { slow: anotherProcess(site, { store: tapStore(site.store, held.tap) }), held };
}

function etagOf({ headers }: Answer): string {
  return String(headers.ETag);
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a change shows in the record, its date and its entity tag, on every process at once", async () => {
    const { site, pin, path } = await siteWithImage({ store: createStore() });
    const other = anotherProcess(site);
    const before = await other.send("GET", path);
    site.clock.now += MINUTE;
    const changed = await site.send("PATCH", path, { search: `pin=${pin}`, fields: { name: "Renamed" } });
    expect(changed.json).toMatchObject({ name: "Renamed", updatedAt: "2026-03-01T12:01:00.000Z" });
    const after = await other.send("GET", path);
    expect(after.json).toEqual({ ...before.json, name: "Renamed", updatedAt: "2026-03-01T12:01:00.000Z" });
    expect(etagOf(after)).toBe(etagOf(changed));
    expect(etagOf(after)).not.toBe(etagOf(before));
    expect(after.headers["Last-Modified"]).toBe("Sun, 01 Mar 2026 12:01:00 GMT");
    const conditional = await other.send("GET", path, { headers: { "if-none-match": etagOf(before) } });
    expect(conditional.status).toBe(200);
  });
});

test("a change that names the present state is made, one that names an earlier is refused", async () => {
  const { site, pin, path } = await siteWithImage();
  const first = etagOf(await site.send("GET", path));
  const change = (etag: string, name: string) =>
    site.send("PATCH", path, { search: `pin=${pin}`, headers: { "if-match": etag }, fields: { name } });
  const second = await change(first, "Second");
  expect(second.status).toBe(200);
  expect((await change(first, "Third")).status).toBe(412);
  expect((await site.send("GET", path)).json.name).toBe("Second");
  expect((await change(etagOf(second), "Third")).status).toBe(200);
  expect((await change("*", "Fourth")).status).toBe(200);
});

test("a DELETE that names an earlier state is refused, one that names the present is done", async () => {
  const { site, pin, path } = await siteWithImage();
  const first = etagOf(await site.send("GET", path));
  const changed = await site.send("PATCH", path, { search: `pin=${pin}`, fields: { name: "Second" } });
  const remove = (etag: string) =>
    site.send("DELETE", path, { search: `pin=${pin}`, headers: { "if-match": etag } });
  expect((await remove(first)).status).toBe(412);
  expect((await site.send("GET", path)).status).toBe(200);
  expect((await remove(etagOf(changed))).status).toBe(204);
  expect((await site.send("GET", path)).status).toBe(410);
});

test("If-Unmodified-Since is looked at too", async () => {
  const { site, pin, path } = await siteWithImage();
  const change = (date: string) =>
    site.send("PATCH", path, {
      search: `pin=${pin}`,
      headers: { "if-unmodified-since": date },
      fields: { name: "Renamed" },
    });
  expect((await change("Sun, 01 Mar 2026 11:59:59 GMT")).status).toBe(412);
  expect((await change("Sun, 01 Mar 2026 12:00:00 GMT")).status).toBe(200);
});

test("of two changes at once on two processes one is made and the other is a conflict", async () => {
  const scene = await siteWithImage();
  const { site, pin, path } = scene;
  const { slow, held } = slowProcess(scene);
  const search = `pin=${pin}`;
  const late = slow.send("PATCH", path, { search, fields: { name: "Late" } });
  await held.reached;
  expect((await site.send("PATCH", path, { search, fields: { name: "Early" } })).status).toBe(200);
  held.letGo();
  const answer = await late;
  expect([answer.status, answer.json.detail]).toEqual([
    409,
    "Another request changed this image at the same time",
  ]);
  expect((await slow.send("GET", path)).json.name).toBe("Early");
  expect([...site.errors, ...slow.errors]).toEqual([]);
});

test.each(["PATCH", "DELETE"])(
  "a %s that names the state which it lost a race for is a failed precondition",
  async (method) => {
    const scene = await siteWithImage();
    const { site, pin, path } = scene;
    const headers = { "if-match": etagOf(await site.send("GET", path)), "x-service-image-pin": pin };
    const { slow, held } = slowProcess(scene);
    const late = slow.send(method, path, { headers, fields: { name: "Late" } });
    await held.reached;
    await site.send("PATCH", path, { search: `pin=${pin}`, fields: { name: "Early" } });
    held.letGo();
    expect((await late).status).toBe(412);
    expect((await site.send("GET", path)).json.name).toBe("Early");
  },
);

test("a DELETE that loses against a change is a conflict, and done when it is sent again", async () => {
  const scene = await siteWithImage();
  const { site, pin, path } = scene;
  const { slow, held } = slowProcess(scene);
  const search = `pin=${pin}`;
  const late = slow.send("DELETE", path, { search });
  await held.reached;
  await site.send("PATCH", path, { search, fields: { name: "Early" } });
  held.letGo();
  expect((await late).status).toBe(409);
  expect((await site.send("GET", path)).status).toBe(200);
  // What the lost try noted does no harm.
  site.clock.now += MINUTE;
  await site.images.sweep();
  expect((await site.send("GET", path)).status).toBe(200);
  expect((await slow.send("DELETE", path, { search })).status).toBe(204);
});

test("a change that loses against a DELETE is told so and brings nothing back", async () => {
  const scene = await siteWithImage();
  const { site, pin, path } = scene;
  const { slow, held } = slowProcess(scene);
  const search = `pin=${pin}`;
  const late = slow.send("PATCH", path, { search, fields: { expiresAt: site.clock.now + 9 * DAY } });
  await held.reached;
  expect((await site.send("DELETE", path, { search })).status).toBe(204);
  held.letGo();
  expect((await late).status).toBe(410);
  expect((await slow.send("GET", path)).status).toBe(410);
});

test("a second DELETE, and every edit after the first, answers 410, right PIN or wrong", async () => {
  const { site, pin, path, id } = await siteWithImage();
  expect((await site.send("DELETE", path, { search: `pin=${pin}` })).status).toBe(204);
  for (const search of [`pin=${pin}`, "pin=wrong", ""]) {
    expect((await site.send("DELETE", path, { search })).status).toBe(410);
    expect((await site.send("PATCH", path, { search, fields: { name: "x" } })).status).toBe(410);
    expect((await site.send("GET", `/${id}/edit`, { search })).status).toBe(410);
  }
  expect((await site.send("GET", path)).json.detail).toBe("This image was deleted.");
});

test("a deleted image stays deleted when the clock is set back before it was made", async () => {
  const { site, pin, path } = await siteWithImage();
  await site.send("DELETE", path, { search: `pin=${pin}` });
  site.clock.now -= 2 * DAY;
  expect((await site.send("GET", path)).status).toBe(410);
});

test("the date of the last change never goes back", async () => {
  const { site, pin, path } = await siteWithImage();
  site.clock.now -= MINUTE;
  const changed = await site.send("PATCH", path, { search: `pin=${pin}`, fields: { name: "Renamed" } });
  expect(changed.json.updatedAt).toBe("2026-03-01T12:00:00.000Z");
});
