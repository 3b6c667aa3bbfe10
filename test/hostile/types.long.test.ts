import { gzipSync } from "node:zlib";
import type { OriginalType } from "@outrigger/core/images";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { animatedGif, emptyPdf, flatPsd, jpegPhoto, pngPhoto, svgDrawing } from "../support/pictures.ts";
import { addressOf, type Created, postImage, type Site, startSite } from "../support/service.ts";
import { polyglots, zip } from "./polyglots.ts";
import { answerOf, expectProblem } from "./verdict.ts";
import { type Watch, watchSite } from "./watch-site.ts";

const TYPES: readonly OriginalType[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/svg+xml",
  "image/x-photoshop",
  "application/pdf",
];
const SUFFIX: Record<OriginalType, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/svg+xml": "svg",
  "image/x-photoshop": "psd",
  "application/pdf": "pdf",
};
/** One of pixels, and the two whose files may hold the bytes of the original. */
const SUFFIXES = ["png", "svg", "pdf"];

let site: Site;
let watch: Watch;
const stored: string[] = [];
const honest: Partial<Record<OriginalType, Buffer>> = {};
const foreign: Record<string, Buffer> = {};

/** Uploads a file; it must be accepted as `type`. */
async function accept(bytes: Buffer, declared: string, type: OriginalType): Promise<Created> {
  const response = await postImage(site, bytes, declared);
  const text = await response.text();
  expect(response.status, `${declared}: ${text}`).toBe(201);
  const record = JSON.parse(text) as Created;
  stored.push(record.id);
  expect(record.type).toBe(type);
  return record;
}

async function refuse(bytes: Buffer, declared: string, said: string): Promise<void> {
  expectProblem(
    await answerOf(await postImage(site, bytes, declared)),
    [415],
    `${said} declared as ${declared}`,
  );
}

/** Asserts that no client opening a reply with user bytes treats it as executable. */
function expectHarmless(response: Response, said: string): void {
  const suffix = /\.(\w+)\?/.exec(`${response.url}?`)?.[1];
  const isDownload = suffix === "psd" || suffix === "pdf";
  expect(response.headers.get("content-type"), said).toMatch(/^(?:image\/[\w+-]+|application\/pdf)$/);
  expect(response.headers.get("x-content-type-options"), said).toBe("nosniff");
  expect(response.headers.get("content-security-policy"), said).toMatch(/^default-src 'none';.*\bsandbox$/);
  expect(response.headers.get("content-disposition"), said).toMatch(
    isDownload ? /^attachment/ : /^(?:inline|attachment)/,
  );
}

beforeAll(async () => {
  // Without pages, so that any HTML is an error.
  site = await startSite({ pages: false });
  watch = await watchSite(site);
  const png = await pngPhoto(40, 30);
  Object.assign(honest, {
    "image/png": png,
    "image/jpeg": await jpegPhoto(40, 30),
    "image/gif": await animatedGif(2, 20, 10),
    "image/svg+xml": svgDrawing,
    "image/x-photoshop": flatPsd(),
    "application/pdf": emptyPdf(),
  });
  Object.assign(foreign, {
    text: Buffer.from("Just a line of text.\n"),
    HTML: Buffer.from("<!DOCTYPE html><html><body><svg/><script>alert(1)</script></body></html>"),
    "XML of something else": Buffer.from('<?xml version="1.0"?><rss version="2.0"/>'),
    "a ZIP": zip("a.png", "x"),
    "a shell script": Buffer.from("#!/bin/sh\nid\n"),
    "an executable": Buffer.from("\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "latin1"),
    "a WebP": Buffer.from(
      "RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0",
      "latin1",
    ),
    "a BMP": Buffer.from(
      "BM\x1e\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x01\0\x01\0\x01\0\x18\0\0\0\xff\0",
      "latin1",
    ),
    "a TIFF": Buffer.from("II*\0\x08\0\0\0\0\0\0\0\0\0", "latin1"),
    "a cut PNG signature": Buffer.from("\x89PNG\r\n", "latin1"),
    "a PNG signature through a text mode": Buffer.from("\x89PNG\n\x1a\n", "latin1"),
    nothing: Buffer.alloc(0),
    "a NUL": Buffer.alloc(1),
    "64 KiB of blanks": Buffer.alloc(65_536, " "),
    "a gzipped page": gzipSync("<html></html>"),
  });
});
afterAll(() => site.close());

describe("a declared Content-Type", () => {
  test.each(TYPES)("%s is accepted only with bytes of that type", async (declared) => {
    for (const [actual, bytes] of Object.entries(honest)) {
      if (actual === declared) await accept(bytes, declared, declared);
      else await refuse(bytes, declared, actual);
    }
  });

  test.each(TYPES)("%s is refused with bytes of an unsupported type", async (declared) => {
    for (const [said, bytes] of Object.entries(foreign)) await refuse(bytes, declared, said);
  });

  test.each(["application/octet-stream", "image/*", "image/jpg"])(
    "%s takes the type from the bytes",
    async (declared) => {
      for (const type of TYPES) await accept(honest[type] ?? Buffer.alloc(0), declared, type);
      for (const [said, bytes] of Object.entries(foreign)) await refuse(bytes, declared, said);
    },
  );

  test("SVG is accepted in every encoding, and stored as plain UTF-8", async () => {
    const utf16 = Buffer.from(svgDrawing.toString(), "utf16le");
    const encodings = {
      "UTF-16LE": Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
      "UTF-16BE": Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
      "UTF-16 without a mark": utf16,
      gzip: gzipSync(svgDrawing),
    };
    for (const [said, bytes] of Object.entries(encodings)) {
      const { id } = await accept(bytes, "image/svg+xml", "image/svg+xml");
      const stored = await (await fetch(addressOf(site, id, "svg"))).text();
      expect(stored, said).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    }
    // Gzip may contain anything, so its content is not guessed.
    await refuse(encodings.gzip, "application/octet-stream", "gzipped SVG");
  });

  test("a PSD is accepted under the other media types of PSD", async () => {
    for (const alias of ["image/vnd.adobe.photoshop", "application/x-photoshop", "application/photoshop"]) {
      await accept(flatPsd(), alias, "image/x-photoshop");
      for (const type of TYPES) {
        if (type !== "image/x-photoshop") await refuse(honest[type] ?? Buffer.alloc(0), alias, type);
      }
    }
  });
});

describe("polyglot files", () => {
  test("a polyglot is refused, or served only as a picture", async () => {
    for (const { title, type, bytes } of await polyglots()) {
      const created = await answerOf(await postImage(site, bytes, type, { fileName: "evil.html" }));
      if (created?.status !== 201) {
        expectProblem(created, [415], title);
        continue;
      }
      const { id } = JSON.parse(created.body) as Created;
      stored.push(id);
      for (const Accept of ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html", "*/*"]) {
        for (const address of [`${site.base}/${id}`, addressOf(site, id, SUFFIX[type])]) {
          const response = await fetch(address, { headers: { Accept } });
          await response.arrayBuffer();
          expect([title, response.status, response.headers.get("content-type")]).toEqual([title, 200, type]);
          expectHarmless(response, title);
          expect(response.headers.get("content-disposition")).toContain(
            `filename="evil.html.${SUFFIX[type]}"`,
          );
        }
      }
    }
  });

  test("a polyglot's rendition in another format has lost the foreign content", async () => {
    let renditions = 0;
    for (const { title, type, bytes, payload } of await polyglots()) {
      const created = await answerOf(await postImage(site, bytes, type));
      if (created?.status !== 201) continue;
      const { id } = JSON.parse(created.body) as Created;
      stored.push(id);
      for (const suffix of SUFFIXES.filter((each) => each !== SUFFIX[type])) {
        const said = `${title} as ${suffix}`;
        const response = await fetch(`${addressOf(site, id, suffix)}?resize=16x`);
        const body = Buffer.from(await response.arrayBuffer());
        expect([200, 415, 501], `${said}: ${body.toString("latin1", 0, 200)}`).toContain(response.status);
        if (response.status !== 200) continue;
        renditions++;
        expectHarmless(response, said);
        expect(body.includes(payload), said).toBe(false);
      }
    }
    expect(renditions).toBeGreaterThan(12);
  });

  test("a partial or failed read of a polyglot is never HTML", async () => {
    const { id } = await accept(svgDrawing, "image/svg+xml", "image/svg+xml");
    for (const [init, status] of [
      [{ headers: { Range: "bytes=0-9" } }, 206],
      [{ headers: { Range: "bytes=99999-" } }, 416],
      [{ headers: { "If-Match": '"x"' } }, 412],
      [{ method: "PUT" }, 405],
    ] as const) {
      const response = await fetch(addressOf(site, id, "svg"), init);
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).not.toContain("html");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      await response.arrayBuffer();
    }
  });
});

test("declared types and polyglots leave no file, no descriptor and no unexpected error behind", async () => {
  await watch.expectUnharmed(stored);
  expect(site.errors).toEqual([]);
});
