import { createMemoryBlobStore } from "@outrigger/core";
import type { OriginalType, Renderer } from "@outrigger/core/images";
import type { BlobStore } from "@outrigger/core/stores";
import { createRenderer } from "@outrigger/imaging";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { soundFiles } from "./hostile/damaged-files.ts";
import { addressOf, type Site, startSite, upload } from "./support/service.ts";

/** One of pixels, and the two whose files may keep the drawing of the original. */
const FORMATS = ["png", "svg", "pdf"];

let site: Site;
let storage: BlobStore;
/** Formats of the renders that were begun. */
const renders: string[] = [];

beforeAll(async () => {
  const renderer = createRenderer({ timeoutMs: 60_000 });
  const counting: Renderer = {
    ...renderer,
    render(source, type, spec, work) {
      renders.push(spec.format);
      return renderer.render(source, type, spec, work);
    },
  };
  storage = createMemoryBlobStore();
  site = await startSite({ renderer: counting, storage, secret: Buffer.alloc(32, 1), memoryBytes: 0 });
});
afterAll(() => site.close());

async function head(url: string) {
  const { status, headers } = await fetch(url, { method: "HEAD" });
  return { status, etag: headers.get("etag"), length: headers.get("content-length") };
}

/** Keys of stored renditions. */
async function storedOf(id: string): Promise<string[]> {
  return (await storage.list(`${id}/renditions/`)).keys;
}

describe("boxes that result in the same size", async () => {
  // A raster, and a file that is drawn at any size.
  const files = (await soundFiles()).filter(({ title }) => title === "PNG" || title === "PDF");
  test.each(files.map((file) => [file.type, file.bytes] as const))(
    "boxes of the same resulting size share one rendition and ETag for originals of type %s",
    async (type, bytes) => {
      const image = await upload(site, bytes, type);
      const [width, height] = [Number(image.width), Number(image.height)];
      const half = { width: Math.round(width / 2), height: Math.round(height / 2) };
      const boxes = [`${half.width}x`, `${half.width}x8192`, `${half.width}x${height}`];
      for (const format of FORMATS) {
        const begun = renders.length;
        const stored = (await storedOf(image.id)).length;
        const tags = new Set<string | null>();
        for (const box of boxes) {
          const reply = await fetch(`${addressOf(site, image.id, format)}?resize=${box}`);
          expect([format, box, reply.status]).toEqual([format, box, 200]);
          await reply.arrayBuffer();
          tags.add(reply.headers.get("etag"));
          await expect.poll(async () => (await storedOf(image.id)).length - stored).toBe(1);
        }
        expect([format, tags.size, renders.length - begun]).toEqual([format, 1, 1]);
      }
    },
  );

  test("boxes beyond the limit of a format share one rendition", async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="20" height="20"/></svg>`;
    const type: OriginalType = "image/svg+xml";
    const image = await upload(site, Buffer.from(svg), type);
    const tags = new Set<string | null>();
    for (const box of ["4000x", "8192x8192", "x5000"]) {
      const reply = await fetch(`${addressOf(site, image.id, "gif")}?resize=${box}`);
      await reply.arrayBuffer();
      tags.add(reply.headers.get("etag"));
    }
    expect(tags.size).toBe(1);
  });
});

test("HEAD of a missing rendition renders and stores nothing, and has neither Content-Length nor ETag", async () => {
  const [file] = await soundFiles();
  if (file === undefined) throw new Error("There are no files");
  const image = await upload(site, file.bytes, file.type);
  const url = `${addressOf(site, image.id, "webp")}?resize=17x`;
  const begun = renders.length;
  expect(await head(url)).toEqual({ status: 200, etag: null, length: null });
  expect([renders.length - begun, await storedOf(image.id)]).toEqual([0, []]);
  const reply = await fetch(url);
  const bytes = await reply.arrayBuffer();
  await expect.poll(() => storedOf(image.id)).toHaveLength(1);
  expect(await head(url)).toEqual({
    status: 200,
    etag: reply.headers.get("etag"),
    length: String(bytes.byteLength),
  });
});

test("revalidation with the ETag of this build answers 304 and renders nothing", async () => {
  const [file] = await soundFiles();
  if (file === undefined) throw new Error("There are no files");
  const image = await upload(site, file.bytes, file.type);
  const url = `${addressOf(site, image.id, "webp")}?resize=19x`;
  const reply = await fetch(url);
  await reply.arrayBuffer();
  const etag = reply.headers.get("etag") ?? "";
  await expect.poll(() => storedOf(image.id)).toHaveLength(1);
  for (const key of await storedOf(image.id)) await storage.delete(key);
  const begun = renders.length;
  const again = await fetch(url, { headers: { "If-None-Match": etag } });
  expect([again.status, again.headers.get("etag"), renders.length - begun]).toEqual([304, etag, 0]);
  const other = await fetch(url, { headers: { "If-None-Match": etag.replace(/\.[^.]+"$/, '.older"') } });
  await other.arrayBuffer();
  expect([other.status, other.headers.get("etag")]).toEqual([200, etag]);
});
