import { createFsBlobStore, createImages } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { expect, test } from "vitest";
import { CLAIM_END, CLAIM_START, creditedAvif, creditedPng, creditedWebp } from "./support/credentials.ts";
import { halvesHeic } from "./support/heic-samples.ts";
import { jpegPhoto, svgDrawing } from "./support/pictures.ts";
import { addressOf, type Created, type Site, withSite } from "./support/service.ts";
import { tiffOf } from "./support/tiff-files.ts";

const ALL = ["webp", "avif", "tiff", "heic"] as const;

async function samples() {
  const photo = sharp(await jpegPhoto(120, 80));
  return {
    "image/webp": await photo.clone().webp().toBuffer(),
    "image/avif": await photo.clone().avif({ effort: 0 }).toBuffer(),
    "image/tiff": await photo.clone().tiff().toBuffer(),
    "image/heic": halvesHeic,
  };
}

async function create(site: Site, bytes: Buffer, type: string, headers: Record<string, string> = {}) {
  const body = new FormData();
  body.set("imagedata", new Blob([new Uint8Array(bytes)], { type }), "picture");
  const init = { method: "POST", body, headers: { "User-Agent": "OutriggerTest/1.0", ...headers } };
  const response = await fetch(`${site.base}/api/images.json`, init);
  return { status: response.status, record: (await response.json()) as Created & { detail?: string } };
}

test("listed types are converted, and the record names the type of the upload", async () => {
  await withSite({ convertUploads: ALL }, async (site) => {
    for (const [type, bytes] of Object.entries(await samples())) {
      for (const declared of [type, ""]) {
        const { status, record } = await create(site, bytes, declared);
        expect(status, JSON.stringify(record)).toBe(201);
        const original = type === "image/tiff" ? "image/png" : "image/jpeg";
        expect(record).toMatchObject({ type: original, source: type, warnings: [], status: "ready" });
        const suffix = original === "image/png" ? "png" : "jpg";
        const stored = await fetch(addressOf(site, record.id, suffix));
        expect(stored.headers.get("content-type")).toBe(original);
        expect((await sharp(await stored.arrayBuffer()).metadata()).width).toBe(record.width);
      }
    }
    const located = sharp(await jpegPhoto(60, 40)).withExif({ IFD0: { Model: "Camera 3" } });
    for (const format of ["webp", "avif"] as const) {
      const bytes = await located.clone().toFormat(format).toBuffer();
      const { record } = await create(site, bytes, `image/${format}`);
      expect(record, format).toMatchObject({ warnings: ["metadata_removed"] });
    }
    const photo = Buffer.concat([
      halvesHeic,
      Buffer.from("\0\0\0\x19free\0\0\0\x15infe\x02\0\0\0\0\x02\0\0Exif\0", "latin1"),
    ]);
    expect((await create(site, photo, "image/heic")).record).toMatchObject({
      warnings: ["metadata_removed"],
    });
  });
});

test("what is not listed is refused by its name, and a wrong type is refused as ever", async () => {
  const files = await samples();
  await withSite({ convertUploads: ["webp"] }, async (site) => {
    for (const [bytes, declared, reason] of [
      [files["image/avif"], "image/avif", "This is an AVIF picture; convert it to PNG or JPEG first"],
      [files["image/heic"], "", /^This is a HEIC photo; convert it to JPEG first\. On an iPhone/],
      [files["image/webp"], "image/png", "This is a WebP picture; convert it to PNG or JPEG first"],
      [svgDrawing, "image/webp", 'imagedata is image/svg+xml, but its Content-Type says "image/webp"'],
      [files["image/webp"].subarray(0, 400), "image/webp", "The file is damaged or incomplete."],
    ] as const) {
      const { status, record } = await create(site, bytes, declared);
      expect([status, record.detail], declared).toEqual([
        415,
        typeof reason === "string" ? reason : expect.stringMatching(reason),
      ]);
    }
  });
});

test("a camera raw is refused by name under any type, whether TIFF is listed or not", async () => {
  const page = { width: 16, height: 12, level: 40 };
  const sensor = { ...page, fields: { 262: [3, 32803] } } as const;
  const raws = [
    tiffOf([{ ...page, fields: { 50706: [1, 1, 4, 0, 0] } }]),
    tiffOf([{ ...page, below: [sensor] }], { order: "MM" }),
    Buffer.from("\0\0\0\x18ftypcrx \0\0\0\x01crx isom", "latin1"),
    Buffer.concat([Buffer.from("FUJIFILMCCD-RAW 0201"), Buffer.alloc(200)]),
  ];
  for (const convertUploads of [ALL, []] as const) {
    await withSite({ convertUploads }, async (site) => {
      for (const bytes of raws) {
        for (const declared of ["image/x-adobe-dng", "image/jpeg", ""]) {
          const { status, record } = await create(site, bytes, declared);
          expect([status, record.detail], declared).toEqual([
            415,
            "This is a camera raw photo; convert it to PNG or JPEG first",
          ]);
        }
      }
    });
  }
});

test("an upload that is processed later is converted, or refused with a reason", async () => {
  await withSite({ convertUploads: ALL }, async (site) => {
    const files = await samples();
    const { status, record } = await create(site, files["image/tiff"], "image/tiff", {
      Prefer: "respond-async",
    });
    expect([status, record.status, record.source]).toEqual([202, "processing", "image/tiff"]);
    await expect.poll(async () => (await fetch(addressOf(site, record.id, "json"))).status).toBe(200);
    const ready = await (await fetch(addressOf(site, record.id, "json"))).json();
    expect(ready).toMatchObject({ type: "image/png", source: "image/tiff", width: 120, height: 80 });
    const failed = await create(site, files["image/webp"].subarray(0, 400), "image/webp", {
      Prefer: "respond-async",
    });
    expect(failed.status).toBe(202);
    await expect.poll(async () => (await fetch(addressOf(site, failed.record.id, "json"))).status).toBe(404);
  });
});

test("createImages refuses a type that is unknown, and one that the renderer cannot convert", async () => {
  const storage = createFsBlobStore({ directory: "never-opened" });
  const renderer = createRenderer({ timeoutMs: 60_000 });
  const options = { storage, renderer, convertUploads: ["bmp"] as unknown as ["webp"] };
  expect(() => createImages(options)).toThrow(/convertUploads must be a list of webp, avif, tiff, heic/);
  const without = { ...renderer, canConvert: (type: string) => type !== "image/heic" };
  expect(() => createImages({ storage, renderer: without, convertUploads: ["webp", "heic"] })).toThrow(
    'createImages: convertUploads names "heic", which the renderer cannot convert: run npm install heic-decode',
  );
  await renderer.close();
});

test("the form without JavaScript offers the listed types but HEIC, which iOS then converts, and accepts all", async () => {
  await withSite({ convertUploads: ALL }, async (site) => {
    const page = await (await fetch(`${site.base}/`, { headers: { Accept: "text/html" } })).text();
    expect(page).toMatch(/ accept="[^"]*image\/webp,image\/avif,image\/tiff,\.psd"/);
    const body = new FormData();
    body.set("imagedata", new Blob([new Uint8Array(halvesHeic)]), "photo.heic");
    const created = await fetch(`${site.base}/`, {
      method: "POST",
      body,
      headers: { "User-Agent": "Mozilla/5.0" },
    });
    expect(created.status).toBe(201);
    expect(await created.text()).toContain("photo.heic");
  });
});

test("Content Credentials are noted in the record and the viewer, and leave nothing in what is stored", async () => {
  const photo = sharp(await jpegPhoto(60, 40));
  const png = await photo.clone().png().toBuffer();
  const credited: [Buffer, string, string][] = [
    [creditedPng(png), "image/png", "png"],
    [creditedWebp(await photo.clone().webp().toBuffer()), "image/webp", "jpg"],
    [creditedAvif(await photo.clone().avif({ effort: 0 }).toBuffer()), "image/avif", "jpg"],
  ];
  await withSite({ convertUploads: ALL }, async (site) => {
    for (const [bytes, type, suffix] of credited) {
      const { status, record } = await create(site, bytes, type);
      expect([status, record.provenance], type).toEqual([201, true]);
      const stored = Buffer.from(await (await fetch(addressOf(site, record.id, suffix))).arrayBuffer());
      for (const trace of ["jumb", "jumd", "c2pa", "C2PA", CLAIM_START, CLAIM_END]) {
        expect(stored.includes(trace), `${type}: ${trace}`).toBe(false);
      }
      expect(await (await fetch(`${record.url}/view`)).text()).toContain(
        "<dt>Content Credentials</dt><dd>in the uploaded file</dd>",
      );
    }
    const { record } = await create(site, png, "image/png");
    expect(record.provenance).toBeNull();
    expect(await (await fetch(`${record.url}/view`)).text()).not.toContain("Content Credentials");
  });
  await withSite({ keepMetadata: true }, async (site) => {
    const { record } = await create(site, creditedPng(png), "image/png");
    const stored = await fetch(addressOf(site, record.id, "png"));
    expect(record.provenance).toBe(true);
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(creditedPng(png));
  });
});
