import { expect, test } from "vitest";
import { created, createSite } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";
import { textPages } from "../../../test/text-pages.ts";
import type { Pages } from "../../contracts/pages.ts";
import { DESCRIPTION_PATH } from "../../openapi/description.ts";
import { createRouter, NOTHING } from "./router.ts";
import { ROUTES } from "./routes.ts";

const id = "AbCdEfGhIjKlMnOpQrSt_-";

const ASSET = "upload-Bx3_-9.js";
const SCRIPT = { type: "text/javascript", body: Buffer.from("1") };
const pages: Pages = {
  ...textPages,
  created: () => ({ html: "created", contentSecurityPolicy: "default-src 'none'" }),
  report: () => ({ html: "report", contentSecurityPolicy: "default-src 'none'" }),
  asset: (name: string) => (name === ASSET ? SCRIPT : undefined),
};

const match = createRouter(pages, true, true);
// Never opened: no request of these tests uses it.
const resumable = { directory: "unused" };

test.each([
  ["/api/images.json", ["/api/images.json", ""]],
  ["/api/images.txt/", ["/api/images.txt", ""]],
  ["/api/images.xml", ["/api/images/*", "xml"]],
  ["/api/images", ["/api/images/*", ""]],
  ["/api/images/", ["/api/images/*", ""]],
  ["/api/images//", ["/api/images/*", ""]],
  [`/api/images/${id}.json`, ["/api/images/{id}.json", id]],
  [`/api/images/${id}.json/`, ["/api/images/{id}.json", id]],
  [`/api/images/${id}.jpg`, ["/api/images/{id}.jpg", id]],
  [`/api/images/${id}.jpeg`, ["/api/images/{id}.jpg", id]],
  [`/api/images/${id}.avif`, ["/api/images/{id}.avif", id]],
  [`/api/images/${id}.bmp`, ["/api/images/*", "bmp"]],
  [`/api/images/${id}.PNG`, ["/api/images/*", "PNG"]],
  [`/api/images/${id}.constructor`, ["/api/images/*", "constructor"]],
  [`/api/images/${id}`, ["/api/images/*", ""]],
  [`/api/images/${id}x.png`, ["/api/images/*", ""]],
  ["/api/images/..%2f..%2fetc.png", ["/api/images/*", ""]],
  ["/api/images/../../../x.png", ["/api/images/*", ""]],
  [`/api/images/${id}/x.png`, ["/api/images/*", ""]],
  ["/api/imagesque", undefined],
  ["/api", undefined],
  ["/api/", undefined],
  ["/api/openapi.json", ["/api/openapi.json", ""]],
  ["/api/other.json", undefined],
  ["/", ["/", ""]],
  ["/assets/upload-Bx3_-9.js", ["/assets/{name}", "upload-Bx3_-9.js"]],
  ["/assets/a/b.js", undefined],
  ["/assets/%2e%2e", undefined],
  ["/sharex.sxcu", ["/sharex.sxcu", ""]],
  ["/share-target", undefined],
  ["/api/uploads", ["/api/uploads", ""]],
  ["/api/uploads/", ["/api/uploads", ""]],
  [`/api/uploads/${id}`, ["/api/uploads/{upload}", id]],
  [`/api/uploads/${id}/`, ["/api/uploads/{upload}", id]],
  [`/api/uploads/${id}//`, ["/api/images/*", ""]],
  [`/api/uploads/..%2f${id}`, ["/api/images/*", ""]],
  ["/api/uploadsque", undefined],
  [`/${id}`, ["/{id}", id]],
  [`/${id}/view`, ["/{id}/view", id]],
  [`/${id}/edit`, ["/{id}/edit", id]],
  [`/${id}/report`, ["/{id}/report", id]],
  [`/${id.slice(1)}/view`, ["/{id}/view", id.slice(1)]],
  [`/${id}x/edit`, ["/{id}/edit", `${id}x`]],
  [`/${id.slice(3)}/view`, undefined],
  [`/${id}xyz/view`, undefined],
  [`/${id.slice(1)}./view`, undefined],
  ["/users/edit", undefined],
  [`/${id}/other`, undefined],
  [`/${id}/view/`, undefined],
  [`/${id}x`, undefined],
  ["/host", undefined],
])("the path %s matches the expected route", (path, expected) => {
  const matched = match(path);
  expect(matched && [matched.route, matched.name]).toEqual(expected);
});

/** A sample path of a route. */
function pathOf(pattern: string, imageId: string): string {
  return pattern.replace(/\{(?:id|upload)\}/, imageId).replace("{name}", ASSET);
}

test("each route but the pages and their files is described with its methods, and each described path has a route", () => {
  const { paths } = createLifeSite({ pages, resumable, reports: true }).images.describe();
  const others = [DESCRIPTION_PATH, "/assets/{name}", "/{id}/view", "/{id}/edit", "/{id}/report", "/"];
  const rows = ROUTES.filter(({ pattern }) => !others.includes(pattern));
  expect(Object.keys(paths)).toEqual(rows.map(({ pattern }) => pattern));
  for (const row of rows) {
    const item = paths[row.pattern] ?? {};
    const methods = Object.keys(item).filter((key) => /^(?:get|head|post|patch|delete)$/.test(key));
    const heads = methods.includes("get") ? ["head"] : [];
    const described = [...methods, ...heads, "options"].map((method) => method.toUpperCase());
    const allowed = match(pathOf(row.pattern, id))?.row.allow.split(", ");
    expect([row.pattern, described.sort()]).toEqual([row.pattern, allowed?.sort()]);
  }
});

test.each(ROUTES.map((row) => [row.pattern, row] as const))(
  "the route %s is reachable",
  async (pattern, row) => {
    const site = createLifeSite({ pages, resumable, reports: true });
    const { id: imageId } = created(await site.create());
    const path = pathOf(pattern, imageId);
    const matched = match(path);
    expect(matched).toEqual({
      route: row.observedAs ?? pattern,
      row: expect.objectContaining({ pattern }),
      name: /\{(?:id|upload)\}/.test(pattern) ? imageId : pattern.includes("{name}") ? ASSET : "",
    });
    const Allow = matched?.row.allow;
    const options = await site.send("OPTIONS", path);
    expect([options.status, options.headers.Allow]).toEqual([204, Allow]);
    if (row.methods.GET !== undefined) expect((await site.send("GET", path)).status).toBeLessThan(404);
    expect(await site.send("PUT", path)).toMatchObject({
      status: 405,
      headers: { Allow },
    });
  },
);

test("without pages, their routes are left to the host and not described", async () => {
  const site = createSite();
  const { paths } = site.images.describe();
  const ofPages = /^\/(?:assets.*)?$|view|edit/;
  expect(Object.keys(paths).filter((path) => ofPages.test(path))).toEqual([]);
  for (const path of ["/", `/assets/${ASSET}`]) {
    await expect(site.send("GET", path)).rejects.toThrow("is outside the service");
  }
});

test("without the option resumable, the paths of resumable uploads are left to the host and not described", async () => {
  const site = createLifeSite({ pages });
  const { paths } = site.images.describe();
  expect(Object.keys(paths).filter((path) => path.includes("uploads"))).toEqual([]);
  for (const path of ["/api/uploads", `/api/uploads/${id}`]) {
    await expect(site.send("POST", path)).rejects.toThrow("is outside the service");
  }
});

test("the form to report an image is an address of the service without reports too, with nothing there", async () => {
  expect(createRouter(pages)(`/${id}/report`)).toMatchObject({ route: "/{id}/report", name: id });
  const site = createLifeSite({ pages });
  const { id: imageId } = created(await site.create());
  for (const each of [imageId, id]) {
    const answer = await site.send("GET", `/${each}/report`, { headers: { accept: "text/html" } });
    expect([answer.status, answer.headers["Content-Security-Policy"]]).toEqual([404, "default-src 'none'"]);
  }
});

test("an unknown path below api/images belongs to the service", () => {
  expect(match("/api/images/a/b/c")?.row).toBe(NOTHING);
});
