import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import type { CallOptions } from "../../../../test/calls.ts";
import { createSite, type ImageSite, type SiteOptions } from "../../../../test/image-site.ts";
import { textPages } from "../../../../test/text-pages.ts";
import type { CreatedView, UploadView } from "../../../contracts/pages.ts";
import { ServiceError } from "../../../errors.ts";

const BASE = "https://pictures.example";
const BROWSER = { accept: "text/html,*/*;q=0.8", origin: BASE, "sec-fetch-site": "same-origin" };
const DAY = 86_400_000;

interface FormSite {
  site: ImageSite;
  uploads: UploadView[];
  created: CreatedView[];
  post(options?: CallOptions): ReturnType<ImageSite["send"]>;
}

/** A site with pages that note their views. */
function formSite(options: SiteOptions = {}): FormSite {
  const uploads: UploadView[] = [];
  const created: CreatedView[] = [];
  const pages = {
    ...textPages,
    upload(view: UploadView) {
      uploads.push(view);
      return textPages.upload(view, 0);
    },
    created(view: CreatedView) {
      created.push(view);
      return { html: `created ${view.image.name}`, contentSecurityPolicy: "default-src 'none'" };
    },
  };
  const site = createSite({ pages, renderer: createFakeRenderer(acceptAll), ...options });
  return {
    ...{ site, uploads, created },
    post: ({ headers, ...others } = {}) =>
      site.send("POST", "/", { headers: { ...BROWSER, ...headers }, ...others }),
  };
}

test("the form stores an image with its name and lifetime, and the page has its links and PIN once", async () => {
  const { site, created, post } = formSite();
  const answer = await post({ uploadFields: { name: "Boat", expiresIn: String(7 * DAY) } });
  expect([answer.status, answer.text]).toEqual([201, "created Boat"]);
  const [{ image, editUrl, pin } = { image: null, editUrl: "", pin: "" }] = created;
  expect(answer.headers).toMatchObject({
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    Location: `${BASE}/${image?.id}`,
  });
  expect(JSON.stringify(answer.headers)).not.toContain(pin);
  expect(editUrl).toBe(`${BASE}/${image?.id}/edit?pin=${pin}`);
  const record = await site.send("GET", `/api/images/${image?.id}.json`);
  expect(record.json).toMatchObject({ name: "Boat", expiresAt: "2026-03-08T12:00:00.000Z" });
  expect((await site.send("DELETE", `/api/images/${image?.id}.json`, { search: `pin=${pin}` })).status).toBe(
    204,
  );
});

test("empty fields of the form mean the name of the file and the default lifetime", async () => {
  const { created, post } = formSite({ defaultLifetimeMs: 2 * DAY });
  expect((await post({ uploadFields: { name: "", expiresIn: "" } })).status).toBe(201);
  expect(created[0]?.image).toMatchObject({ name: "picture.png", expiresAt: "2026-03-03T12:00:00.000Z" });
});

test("the bytes decide about the type, because browsers declare it by the file name", async () => {
  const { site, created, post } = formSite();
  expect((await post({ fileType: "image/webp" })).status).toBe(201);
  expect(created[0]?.image.type).toBe("image/png");
  expect((await site.create({ fileType: "image/webp" })).status).toBe(415);
});

test("an image that is still processed answers 202 with Retry-After and the same page", async () => {
  const { created, post } = formSite({ renderer: createFakeRenderer(), asyncAfterMs: 0 });
  const answer = await post();
  expect([answer.status, answer.headers["Retry-After"]]).toEqual([202, "1"]);
  expect(created[0]?.image.links).toEqual({});
  expect(answer.headers.Refresh).toBeUndefined();
});

describe("a refused form comes back with the status and what was typed", () => {
  const typed = { name: "Boat", description: "A boat.", expiresIn: String(DAY) };

  test.each<[string, number, SiteOptions, CallOptions]>([
    ["bytes that are no image", 415, {}, { file: Buffer.from("text") }],
    ["a name that is too long", 400, {}, { uploadFields: { ...typed, name: "x".repeat(256) } }],
    ["a lifetime that is too long", 400, { maxLifetimeMs: DAY / 2, defaultLifetimeMs: DAY / 4 }, {}],
    ["a lifetime that is no number", 400, {}, { uploadFields: { ...typed, expiresIn: "soon" } }],
  ])("%s", async (_why, status, options, sent) => {
    const { uploads, created, post } = formSite(options);
    const answer = await post({ uploadFields: typed, ...sent });
    expect([answer.status, answer.headers["Cache-Control"]]).toEqual([status, "no-store"]);
    expect(answer.text).toMatch(/^upload at /);
    expect(created).toEqual([]);
    expect(uploads[0]?.form).toEqual({
      action: `${BASE}/`,
      fileField: "imagedata",
      typed: sent.uploadFields ?? typed,
    });
    expect(uploads[0]?.refusal).toMatchObject({ status, detail: expect.stringMatching(/./) });
  });

  test("too many uploads, with the wait, counted with those of the API", async () => {
    const { site, uploads, post } = formSite({ rateLimits: { creates: 2 } });
    expect((await site.create()).status).toBe(201);
    const { headers } = await post();
    expect(headers.RateLimit).toMatch(/^"creates";r=0;/);
    const answer = await post();
    expect(answer.status).toBe(429);
    expect(answer.headers["Retry-After"]).toBe(String(uploads[0]?.refusal?.retryAfterSeconds));
    expect(uploads[0]?.form).toBeDefined();
  });

  test("a full store, which is also reported", async () => {
    const { site, uploads, post } = formSite({
      renderer: createFakeRenderer(({ refuse }) => refuse(new ServiceError("no_space", "The disk is full"))),
    });
    expect((await post()).status).toBe(507);
    expect(uploads[0]?.refusal).toEqual({ status: 507, detail: "The storage has no room left." });
    expect(site.errors).toHaveLength(1);
  });

  test("as a problem for clients that do not prefer HTML", async () => {
    const { post } = formSite();
    const answer = await post({ headers: { accept: "*/*" }, file: Buffer.from("text") });
    expect([answer.status, answer.headers["Content-Type"]]).toEqual([
      415,
      "application/problem+json; charset=utf-8",
    ]);
  });
});

describe("the form is refused from other origins, with authorize and without", () => {
  test.each<[string, Record<string, string>]>([
    ["another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["a sibling subdomain", { origin: "https://app.pictures.example", "sec-fetch-site": "same-site" }],
    ["an opaque origin of an older browser", { origin: "null", "sec-fetch-site": "" }],
    ["an older browser", { origin: "https://evil.example", "sec-fetch-site": "" }],
  ])("%s", async (_which, { "sec-fetch-site": site, ...sent }) => {
    for (const authorize of [undefined, () => true]) {
      const {
        site: service,
        uploads,
        created,
      } = formSite({
        cors: { origins: ["https://evil.example"], credentials: true },
        ...(authorize === undefined ? {} : { authorize }),
      });
      const headers = {
        accept: "text/html",
        ...sent,
        ...(site === "" ? {} : { "sec-fetch-site": site ?? "" }),
      };
      expect((await service.send("POST", "/", { headers })).status).toBe(403);
      expect(created).toEqual([]);
      expect(uploads[0]?.refusal?.status).toBe(403);
      expect(uploads[0]?.form).toBeUndefined();
    }
  });
});

describe("the upload page offers the form", () => {
  test("to a client that may upload, and keeps the page from shared caches", async () => {
    const { site, uploads } = formSite({ authorize: ({ headers }) => headers.cookie === "user=anna" });
    const mine = await site.send("GET", "/", { headers: { cookie: "user=anna" } });
    expect(mine.headers["Cache-Control"]).toBe("private, no-cache");
    await site.send("GET", "/");
    expect(uploads.map(({ form }) => form !== undefined)).toEqual([true, false]);
    expect(site.errors).toEqual([]);
  });

  test("not if the host fails to decide, which is reported", async () => {
    const { site, uploads } = formSite({
      authorize({ headers }) {
        throw new TypeError(`No key in ${Object.keys(headers).length} headers`);
      },
    });
    expect((await site.send("GET", "/")).status).toBe(200);
    expect(uploads[0]?.form).toBeUndefined();
    expect(site.errors).toHaveLength(1);
  });

  test("not if the pages have no created: then POST is not permitted", async () => {
    const views: UploadView[] = [];
    const upload = (view: UploadView) => {
      views.push(view);
      return textPages.upload(view, 0);
    };
    const site = createSite({ pages: { ...textPages, upload } });
    await site.send("GET", "/");
    expect(views[0]?.form).toBeUndefined();
    const { status, headers } = await site.send("POST", "/", { headers: BROWSER });
    expect([status, headers.Allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await formSite().site.send("OPTIONS", "/")).headers.Allow).toBe("GET, HEAD, POST, OPTIONS");
  });
});
