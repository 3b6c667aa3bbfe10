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

/** Another process, whose next change of the record is delayed after it has read the record. */
function slowProcess({ site, id }: Scene) {
  const held = holdUp(({ method, key }) => method === "put" && key === `${id}/record`);
  return { slow: anotherProcess(site, { store: tapStore(site.store, held.tap) }), held };
}

function etagOf({ headers }: Answer): string {
  return String(headers.ETag);
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a change shows at once in the record, its date and its entity tag, on every process", async () => {
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

test("PATCH with the current entity tag in If-Match changes the image; an earlier tag answers 412", async () => {
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

test("DELETE with the current entity tag in If-Match deletes the image; an earlier tag answers 412", async () => {
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

test("PATCH with a failed If-Unmodified-Since answers 412", async () => {
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

test("of two concurrent changes on two processes, one succeeds and the other answers 409", async () => {
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

test.each(["PATCH", "DELETE"])("a %s with If-Match that loses a race answers 412", async (method) => {
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
});

test("a DELETE that loses a race against a change answers 409 and succeeds when repeated", async () => {
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
  // The due entry of the failed attempt must do no harm.
  site.clock.now += MINUTE;
  await site.images.sweep();
  expect((await site.send("GET", path)).status).toBe(200);
  expect((await slow.send("DELETE", path, { search })).status).toBe(204);
});

test("a change that loses a race against a DELETE answers 410 and does not bring the image back", async () => {
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

test("a second DELETE and every edit after it answer 410, with the right PIN or a wrong one", async () => {
  const { site, pin, path, id } = await siteWithImage();
  expect((await site.send("DELETE", path, { search: `pin=${pin}` })).status).toBe(204);
  for (const search of [`pin=${pin}`, "pin=wrong", ""]) {
    expect((await site.send("DELETE", path, { search })).status).toBe(410);
    expect((await site.send("PATCH", path, { search, fields: { name: "x" } })).status).toBe(410);
    expect((await site.send("GET", `/${id}/edit`, { search })).status).toBe(410);
  }
  expect((await site.send("GET", path)).json.detail).toBe("This image was deleted.");
});

test("a deleted image stays deleted when the clock is set back to before its creation", async () => {
  const { site, pin, path } = await siteWithImage();
  await site.send("DELETE", path, { search: `pin=${pin}` });
  site.clock.now -= 2 * DAY;
  expect((await site.send("GET", path)).status).toBe(410);
});

test("the date of the last change never goes backwards", async () => {
  const { site, pin, path } = await siteWithImage();
  site.clock.now -= MINUTE;
  const changed = await site.send("PATCH", path, { search: `pin=${pin}`, fields: { name: "Renamed" } });
  expect(changed.json.updatedAt).toBe("2026-03-01T12:00:00.000Z");
});
