import { expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { createLifeSite, SECOND } from "../../../test/life-site.ts";
import type { Authorize } from "../authorize.ts";

const byHeader: Authorize = ({ headers }) =>
  headers["x-owner"] === undefined ? undefined : { owner: String(headers["x-owner"]), all: true };

async function siteOf(...owners: string[]) {
  const site = createLifeSite({ authorize: byHeader });
  const ids: string[] = [];
  for (const owner of owners) {
    site.clock.now += SECOND;
    ids.push(created(await site.create({ headers: { "x-owner": owner } })).id);
  }
  const owned = async (method: "GET" | "DELETE", owner: string, query = "") => {
    const { status, text, headers } = await site.send(method, "/api/owned.json", {
      headers: { "x-owner": owner },
      search: query,
    });
    return { status, headers, body: JSON.parse(text) };
  };
  return { site, ids, owned };
}

test("GET lists the images of the owner that the host names, newest first, page by page", async () => {
  const { ids, owned } = await siteOf("anna", "ben", "anna", "anna");
  const first = await owned("GET", "anna", "?limit=2");
  expect(first.status).toBe(200);
  expect(first.headers["Cache-Control"]).toBe("no-store");
  expect(first.body.usage).toMatchObject({ images: 3 });
  expect(first.body.images.map(({ id }: { id: string }) => id)).toEqual([ids[3], ids[2]]);
  expect(first.body.images[0]).toMatchObject({ state: "ready", url: expect.stringMatching(`/${ids[3]}$`) });
  const second = await owned("GET", "anna", `?limit=2&before=${first.body.next}`);
  expect(second.body.images.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
  expect(second.body.next).toBeNull();
});

test("DELETE deletes the images of the owner that the host names, and says how many stay", async () => {
  const { site, ids, owned } = await siteOf("anna", "ben", "anna");
  await site.images.withhold(ids[0] ?? "", { reason: "A claim." });
  const { status, body } = await owned("DELETE", "anna");
  expect([status, body]).toEqual([200, { removed: 1, withheld: 1 }]);
  expect((await owned("GET", "ben")).body.images).toHaveLength(1);
  expect((await owned("GET", "anna")).body.images).toMatchObject([{ id: ids[0], state: "withheld" }]);
});

test.each(["GET", "DELETE"] as const)("%s answers 403 unless the host names an owner", async (method) => {
  for (const decision of [undefined, true, false, { owner: "anna" }, { owner: "anna", all: false }]) {
    const site = createLifeSite({ authorize: () => decision });
    expect((await site.send(method, "/api/owned.json")).status).toBe(403);
  }
  expect((await createLifeSite().send(method, "/api/owned.json")).status).toBe(403);
});

test("authorize is asked for the actions list and removeAll", async () => {
  const actions: string[] = [];
  const site = createLifeSite({
    authorize: (_call, action) => {
      actions.push(action);
      return { owner: "anna", all: true };
    },
  });
  await site.send("GET", "/api/owned.json");
  await site.send("DELETE", "/api/owned.json");
  expect(actions).toEqual(["list", "removeAll"]);
});

test.each(["?limit=0", "?limit=1001", "?limit=x", "?before=-1"])("GET answers 400 to %s", async (query) => {
  const { owned } = await siteOf();
  const { status, body } = await owned("GET", "anna", query);
  expect([status, body.detail]).toEqual([400, expect.stringMatching(/^(?:limit|before) must be a whole/)]);
});

test("DELETE from a page of another site answers 403 and deletes nothing", async () => {
  const { site, owned } = await siteOf("anna");
  const headers = { "x-owner": "anna", "sec-fetch-site": "cross-site", origin: "https://evil.example" };
  expect((await site.send("DELETE", "/api/owned.json", { headers })).status).toBe(403);
  expect((await owned("GET", "anna")).body.images).toHaveLength(1);
});
