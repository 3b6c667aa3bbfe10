import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { createIPX, createIPXNodeServer, ipxFSStorage } from "ipx";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSamples, HOSTILE_SVG, type Samples, TRACKER } from "./samples.ts";

let samples: Samples;
let directory: string;
let server: Server;
let origin: string;

beforeAll(async () => {
  samples = await createSamples();
  directory = await mkdtemp(join(tmpdir(), "outrigger-ipx-"));
  const { tagged, psd, pdf, bomb } = samples;
  const files = {
    "photo.jpg": tagged,
    "layers.psd": psd,
    "pages.pdf": pdf,
    "bomb.png": bomb,
    "drawing.svg": HOSTILE_SVG,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  const ipx = createIPX({ storage: ipxFSStorage({ dir: directory }) });
  server = createServer(express().use("/", createIPXNodeServer(ipx)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // Listening on TCP.
});

afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true, force: true });
});

async function get(path: string, init: RequestInit = {}) {
  const reply = await fetch(`${origin}/${path}`, init);
  return { reply, status: reply.status, body: Buffer.from(await reply.arrayBuffer()) };
}

const rawOf = (picture: Buffer) => sharp(picture).raw().toBuffer();

describe("ipx 3.1.1", () => {
  test("ipx runs inside an Express app and resizes to any size without a signature", async () => {
    for (const width of [20, 21, 22]) {
      const { status, body } = await get(`w_${width}/photo.jpg`);
      expect([status, (await sharp(body).metadata()).width]).toEqual([200, width]);
    }
  });

  test("ipx crops to the most interesting part, and blurs", async () => {
    const { body } = await get("s_50x50,fit_cover,pos_attention/photo.jpg");
    expect(await sharp(body).metadata()).toMatchObject({ width: 50, height: 50 });
    expect((await get("blur_5/photo.jpg")).status).toBe(200);
  });

  test("ipx reads neither PSD nor PDF", async () => {
    expect((await get("f_png/layers.psd")).status).toBe(500);
    expect((await get("f_png/pages.pdf")).status).toBe(400);
  });

  test("ipx answers the original where PDF, PSD or SVG of a photo is requested", async () => {
    for (const format of ["pdf", "psd", "svg"]) {
      const { status, body } = await get(`f_${format}/photo.jpg`);
      expect([format, status, (await sharp(body).metadata()).format]).toEqual([format, 200, "jpeg"]);
    }
  });

  test("ipx removes scripts and handlers of an SVG and keeps its references to other sites", async () => {
    const { reply, body } = await get("_/drawing.svg");
    const text = body.toString();
    expect(text).not.toMatch(/script|onload|alert/);
    expect(text).toContain(TRACKER);
    expect(reply.headers.get("content-security-policy")).toBe("default-src 'none'");
  });

  test("ipx refuses an image of 400 million pixels with 500", async () => {
    const { status, body } = await get("f_webp,w_100/bomb.png");
    expect([status, body.toString()]).toEqual([500, expect.stringContaining("exceeds pixel limit")]);
  });

  test("ipx strips metadata by encoding each JPEG anew, also without modifiers", async () => {
    for (const path of ["w_100/photo.jpg", "_/photo.jpg"]) {
      const { body } = await get(path);
      expect((await sharp(body).metadata()).exif).toBeUndefined();
      expect((await rawOf(body)).equals(await rawOf(samples.tagged))).toBe(false);
    }
  });

  test("ipx takes no upload and deletes nothing: POST and DELETE answer the image", async () => {
    for (const method of ["POST", "DELETE"]) {
      const { reply, status } = await get("w_20/photo.jpg", { method });
      expect([status, reply.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    }
    expect((await get("w_20/photo.jpg")).status).toBe(200);
  });

  test("ipx lets caches keep images for a time that its storage sets", async () => {
    const { reply } = await get("w_20/photo.jpg");
    expect(reply.headers.get("cache-control")).toMatch(/^max-age=\d+, public, s-maxage=\d+$/);
    expect(reply.headers.get("etag")).not.toBeNull();
  });
});
