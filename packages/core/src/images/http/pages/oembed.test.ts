import { expect, test } from "vitest";
import { created, type SiteOptions } from "../../../../test/image-site.ts";
import { createLifeSite } from "../../../../test/life-site.ts";
import { textPages } from "../../../../test/text-pages.ts";

async function siteWithImage(options: SiteOptions = {}) {
  const site = createLifeSite({ pages: textPages, ...options });
  const reply = await site.create();
  const { id, pin } = created(reply);
  const ask = (query: Record<string, string>) =>
    site.send("GET", "/api/oembed.json", { search: new URLSearchParams(query).toString() });
  return { site, id, pin, url: String(reply.headers.Location), ask };
}

test("oEmbed of a viewer's address, or of the image's, is a photo with its size and the site's name", async () => {
  const { url, id, ask } = await siteWithImage({ pages: { ...textPages, productName: "Harbour" } });
  for (const address of [url, `${url}/view`]) {
    const { status, json } = await ask({ url: address, format: "json" });
    expect(status).toBe(200);
    expect(json).toMatchObject({ version: "1.0", type: "photo", provider_name: "Harbour" });
    expect(String(json.url)).toContain(`/api/images/${id}.`);
    expect([json.width, json.height].every((side) => Number.isInteger(side))).toBe(true);
  }
});

test("oEmbed respects maxwidth and maxheight, and keeps the proportions", async () => {
  const { url, ask } = await siteWithImage();
  const { json: whole } = await ask({ url });
  const [width, height] = [Number(whole.width), Number(whole.height)];
  const { json } = await ask({ url, maxwidth: String(Math.ceil(width / 2)), maxheight: "9999" });
  expect(Number(json.width)).toBeLessThanOrEqual(Math.ceil(width / 2));
  expect(Number(json.width) / Number(json.height)).toBeCloseTo(width / height, 0);
  expect(String(json.url)).toMatch(/\?resize=\d+x\d+$/);
  const { json: low } = await ask({ url, maxheight: "1" });
  expect([low.height, Number(low.width) <= Math.ceil(width / height)]).toEqual([1, true]);
});

test("oEmbed names the whole picture when the size is signed, and a signed one when it is smaller", async () => {
  const { url, ask } = await siteWithImage({ sizes: "signed" });
  expect(String((await ask({ url })).json.url)).not.toContain("?");
  expect(String((await ask({ url, maxwidth: "1" })).json.url)).toMatch(/[?&]s=[\w-]{43}/);
});

test("oEmbed offers at most 27 sizes of an image, whatever is asked", async () => {
  const { url, id, ask, site } = await siteWithImage();
  const sizes = new Set<string>();
  const { width } = (await site.send("GET", `/api/images/${id}.json`)).json;
  for (let side = 1; side < Math.min(Number(width), 300); side++)
    sizes.add(String((await ask({ url, maxwidth: String(side), maxheight: String(side) })).json.url));
  expect(sizes.size).toBeGreaterThan(1);
  expect(sizes.size).toBeLessThanOrEqual(27);
});

test("oEmbed is cached no longer than the image lives", async () => {
  const { site, url, id, ask } = await siteWithImage({ cacheSeconds: 300 });
  expect((await ask({ url })).json.cache_age).toBe(300);
  await site.images.edit(id, { expiresAt: "2026-03-01T12:00:09.500Z" });
  expect((await ask({ url })).json.cache_age).toBe(9);
});

test.each([
  [{}, 400],
  [{ url: "no address" }, 400],
  [{ url: "https://other.example/AAAAAAAAAAAAAAAAAAAAAA/view" }, 404],
  [{ format: "xml" }, 501],
])("oEmbed with %j answers %i", async (query, status) => {
  const { ask } = await siteWithImage();
  expect((await ask(query)).status).toBe(status);
});

test("oEmbed refuses a wrong size, a page that does not exist, and an unknown image", async () => {
  const { url, ask } = await siteWithImage();
  for (const maxwidth of ["0", "-1", "1.5", "x"]) expect((await ask({ url, maxwidth })).status).toBe(400);
  expect((await ask({ url: `${url}/view?page=9` })).status).toBe(404);
  expect((await ask({ url: url.replace(/[^/]+$/, "A".repeat(22)) })).status).toBe(404);
  expect((await ask({ url: `${url}/edit` })).status).toBe(404);
});

test("oEmbed has the refusals of the viewer: withheld, deleted, and not permitted", async () => {
  const { site, url, id, pin, ask } = await siteWithImage();
  await site.images.withhold(id, { reason: "By order." });
  expect((await ask({ url })).status).toBe(451);
  await site.images.release(id);
  await site.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` });
  expect((await ask({ url })).status).toBe(410);
  const closed = await siteWithImage({ authorize: (_call, action) => action !== "read" });
  const refused = await closed.ask({ url: closed.url });
  expect([refused.status, refused.text.includes(closed.id)]).toEqual([403, false]);
});
