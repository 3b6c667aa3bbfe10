import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { createCall } from "../../../../test/calls.ts";
import { createSite } from "../../../../test/image-site.ts";
import { textPages } from "../../../../test/text-pages.ts";
import type { Pages, UploadView } from "../../../contracts/pages.ts";

const BASE = "https://pictures.example";
const script = { type: "text/javascript; charset=utf-8", body: Buffer.from("plain") };
const pages: Pages = {
  ...textPages,
  asset: (name) => {
    if (name === "plain.js") return script;
    if (name !== "app.js") return undefined;
    return { ...script, brotli: Buffer.from("brotli"), gzip: Buffer.from("gzip") };
  },
};

test("the front page is the upload page and gets the limits of uploads", async () => {
  const site = createSite({ pages, maxUploadBytes: 4321, defaultLifetimeMs: 5000 });
  const { status, headers, text } = await site.send("GET", "/");
  expect([status, headers["Content-Type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(headers["Content-Security-Policy"]).toBe("default-src 'none'");
  expect(text).toBe(
    `upload at ${BASE}: image/png image/jpeg image/gif image/svg+xml image/x-photoshop application/pdf, 4321 bytes, 5000 ms`,
  );
});

test.each([
  ["any", "any"],
  ["signed", "signed"],
  [{ steps: [1200, 400] }, [400, 1200]],
] as const)("the view of the upload page says which sizes are served for sizes: %j", async (sizes, shown) => {
  const views: UploadView[] = [];
  const upload: Pages["upload"] = (view) => {
    views.push(view);
    return textPages.upload(view, 0);
  };
  await createSite({ pages: { ...pages, upload }, sizes }).send("GET", "/");
  expect(views.map((view) => view.sizes)).toEqual([shown]);
});

test("a file that the pages do not have is left to the host", async () => {
  expect(await createSite({ pages }).images.handle(createCall("GET", "/assets/other.js"))).toBeUndefined();
});

test.each([
  ["br, gzip", "br", "brotli"],
  ["gzip", "gzip", "gzip"],
  ["gzip;q=1, br;q=0", "gzip", "gzip"],
  ["identity", undefined, "plain"],
  ["*", "br", "brotli"],
])(
  'a request that accepts the encodings "%s" gets the asset in the best of them',
  async (accepted, encoding, text) => {
    const site = createSite({ pages });
    const answer = await site.send("GET", "/assets/app.js", { headers: { "accept-encoding": accepted } });
    expect([answer.status, answer.headers["Content-Encoding"], answer.text]).toEqual([200, encoding, text]);
    expect(answer.headers).toMatchObject({
      "Content-Type": "text/javascript; charset=utf-8",
      "Content-Length": String(text.length),
      "Cache-Control": "public, max-age=31536000, immutable",
      Vary: "Accept-Encoding",
    });
  },
);

test("without Accept-Encoding, and without a compressed variant, the asset comes uncompressed", async () => {
  const site = createSite({ pages });
  expect((await site.send("GET", "/assets/app.js")).text).toBe("plain");
  const only = await site.send("GET", "/assets/plain.js", { headers: { "accept-encoding": "br" } });
  expect([only.text, only.headers["Content-Encoding"]]).toEqual(["plain", undefined]);
  const head = await site.send("HEAD", "/assets/app.js");
  expect([head.status, head.headers["Content-Length"], head.text]).toEqual([200, "5", ""]);
});

test.each(["/api/images/x.json", "/api/images", "/api/images/../x.png"])(
  "%s answers 404 to every method except OPTIONS",
  async (path) => {
    const site = createSite({ pages });
    for (const method of ["GET", "POST", "PATCH", "DELETE"]) {
      expect([method, (await site.send(method, path)).status]).toEqual([method, 404]);
    }
    expect((await site.send("OPTIONS", path)).status).toBe(204);
  },
);

test("a query that is not UTF-8 answers 400, with a body and without", async () => {
  const site = createSite({ pages, renderer: createFakeRenderer(acceptAll) });
  const { id } = (await site.create()).json;
  for (const options of [{}, { fields: { resize: "10x" } }]) {
    const { status } = await site.send("GET", `/api/images/${id}.png`, { ...options, search: "x=%ff" });
    expect(status).toBe(400);
  }
});

test("the ShareX uploader names the upload address and the fields of the reply", async () => {
  const { status, headers, json } = await createSite().send("GET", "/sharex.sxcu");
  expect(status).toBe(200);
  expect(headers["Content-Disposition"]).toBe('attachment; filename="outrigger-pictures.example.sxcu"');
  expect(json).toMatchObject({
    RequestMethod: "POST",
    RequestURL: `${BASE}/api/images.json`,
    Body: "MultipartFormData",
    FileFormName: "imagedata",
    URL: "{json:url}/view",
    DeletionURL: "{json:editUrl}",
    ErrorMessage: "{json:detail}",
  });
});

test("the thumbnail of the ShareX uploader is a size that the site serves: any, the first preset with a size, or the whole picture", async () => {
  const link = "{json:links.png}";
  const thumb = { page: { page: 1 }, thumb: { resize: "150x150" } };
  for (const [options, thumbnail] of [
    [{}, `${link}?resize=300x300`],
    [{ sizes: "steps" }, `${link}?resize=300x300`],
    [{ sizes: "signed", presets: thumb }, `${link}?preset=thumb`],
    [{ sizes: "signed", presets: { page: { page: 1 } } }, link],
  ] as const) {
    const { json } = await createSite(options).send("GET", "/sharex.sxcu");
    expect(json.ThumbnailURL, JSON.stringify(options)).toBe(thumbnail);
  }
});

test("a missing PIN answers with a page for browsers and with a problem for programs", async () => {
  const site = createSite({ pages, renderer: createFakeRenderer(acceptAll) });
  const { id } = (await site.create()).json;
  const html = { headers: { accept: "text/html" } };
  const missing = await site.send("GET", `/${id}/edit`, html);
  expect([missing.status, missing.text]).toEqual([403, `unlock ${BASE}/${id}/edit `]);
  expect(missing.headers).toMatchObject({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
  const wrong = await site.send("GET", `/${id}/edit`, { ...html, search: "pin=WRONG" });
  expect([wrong.status, wrong.text]).toEqual([403, `unlock ${BASE}/${id}/edit Incorrect PIN`]);
  const program = await site.send("GET", `/${id}/edit`);
  expect([program.status, program.json.detail]).toEqual([403, "The PIN is missing"]);
});
