import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Created, postImage, type Site, startSite } from "../support/service.ts";
import { createSamples, HOSTILE_SVG, type Samples, TRACKER } from "./samples.ts";

let samples: Samples;
let site: Site;

beforeAll(async () => {
  samples = await createSamples();
  site = await startSite({ presets: { turned: { rotate: 90, blur: 5 } } });
});

afterAll(() => site.close());

async function created(bytes: Buffer, type: string): Promise<Created> {
  const reply = await postImage(site, bytes, type);
  expect(reply.status).toBe(201);
  return (await reply.json()) as Created;
}

async function bytesOf(path: string): Promise<Buffer> {
  const reply = await fetch(`${site.base}/api/images/${path}`);
  expect([path, reply.status]).toEqual([path, 200]);
  return Buffer.from(await reply.arrayBuffer());
}

describe("Outrigger, asked what the comparison asks the others", () => {
  test("Outrigger reads PSD and PDF", async () => {
    for (const [bytes, type] of [
      [samples.psd, "image/x-photoshop"],
      [samples.pdf, "application/pdf"],
    ] as const) {
      const { id } = await created(bytes, type);
      expect((await sharp(await bytesOf(`${id}.png`)).metadata()).format).toBe("png");
    }
  });

  test("Outrigger makes PDF, PSD and SVG of a photo", async () => {
    const { id } = await created(samples.photo, "image/jpeg");
    const head = async (format: string) =>
      (await bytesOf(`${id}.${format}`)).subarray(0, 300).toString("latin1");
    expect(await head("pdf")).toMatch(/^%PDF-/);
    expect(await head("psd")).toMatch(/^8BPS/);
    expect(await head("svg")).toContain("<svg");
  });

  test("Outrigger removes scripts, handlers and references to other sites from an SVG", async () => {
    const { id } = await created(HOSTILE_SVG, "image/svg+xml");
    const text = (await bytesOf(`${id}.svg`)).toString();
    expect(text).not.toMatch(/script|onload|alert/);
    expect(text).not.toContain(TRACKER);
  });

  test("Outrigger refuses an image of 400 million pixels with a 4xx", async () => {
    const reply = await postImage(site, samples.bomb, "image/png");
    expect([413, 415, 422]).toContain(reply.status);
  });

  test("Outrigger strips author and place from the original and keeps each pixel", async () => {
    expect((await sharp(samples.tagged).metadata()).exif).toBeDefined();
    const { id } = await created(samples.tagged, "image/jpeg");
    const stored = Buffer.from(await (await fetch(`${site.base}/${id}`)).arrayBuffer());
    expect((await sharp(stored).metadata()).exif).toBeUndefined();
    const rawOf = (picture: Buffer) => sharp(picture).raw().toBuffer();
    expect((await rawOf(stored)).equals(await rawOf(samples.tagged))).toBe(true);
  });

  test("Outrigger crops to a point and to the interesting part", async () => {
    const { id } = await created(samples.photo, "image/jpeg");
    for (const at of ["0.2,0.8", "attention"]) {
      const { width, height } = await sharp(
        await bytesOf(`${id}.png?resize=50x50&fit=cover&at=${at}`),
      ).metadata();
      expect([width, height]).toEqual([50, 50]);
    }
  });

  test("Outrigger blurs and turns in presets of the host, not in the address", async () => {
    const { id } = await created(samples.photo, "image/jpeg");
    const plain = await bytesOf(`${id}.png`);
    expect((await bytesOf(`${id}.png?blur=5&rotate=90`)).equals(plain)).toBe(true);
    const { width, height } = await sharp(plain).metadata();
    const turned = await sharp(await bytesOf(`${id}.png?preset=turned`)).metadata();
    expect([turned.width, turned.height]).toEqual([height, width]);
  });

  test("Outrigger refuses video, TIFF and text that names itself a JPEG with 415", async () => {
    const video = Buffer.concat([
      Buffer.from("\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "latin1"),
      Buffer.alloc(1000),
    ]);
    const tiff = await sharp(samples.photo).tiff().toBuffer();
    for (const bytes of [video, tiff, Buffer.from("Not a picture")])
      expect((await postImage(site, bytes, "image/jpeg")).status).toBe(415);
  });

  test("Outrigger does not resume uploads: it has no PATCH for part of a body", async () => {
    const options = await fetch(`${site.base}/api/images.json`, { method: "OPTIONS" });
    expect(options.headers.get("allow")).not.toContain("PATCH");
    const reply = await fetch(`${site.base}/api/images.json`, {
      method: "PATCH",
      headers: { "Tus-Resumable": "1.0.0", "Upload-Offset": "0" },
    });
    expect(reply.status).toBe(405);
  });
});
