import { createMemoryBlobStore } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import sharp from "sharp";
import { expect, test } from "vitest";
import { addressOf, bytesOf, type Created, type Site, upload, withSite } from "./support/service.ts";

const MIB = 2 ** 20;
const DAY_MS = 86_400_000;
const OPTIONS = { secret: Buffer.alloc(32, 1), sweepEveryMs: false, memoryBytes: 0 } as const;

function noiseJpeg(side: number): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const create = { width: side, height: side, channels: 3, background: "#000", noise } as const;
  return sharp({ create }).jpeg({ quality: 60 }).toBuffer();
}

/** @returns the size of the reply */
async function read(site: Site, { id }: Created, query = ""): Promise<number> {
  const { response, bytes } = await bytesOf(addressOf(site, id, "png") + query);
  expect(response.status).toBe(200);
  return bytes.length;
}

/** Sizes of the stored renditions of an image, by name. */
async function renditionsOf(storage: BlobStore, { id }: Created): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const start = `${id}/renditions/`;
  for (const key of (await storage.list(start)).keys)
    sizes.set(key.slice(start.length), (await storage.stat(key))?.size ?? 0);
  return sizes;
}

const sumOf = (sizes: Map<string, number>) => [...sizes.values()].reduce((sum, size) => sum + size, 0);

test("the sweep deletes the renditions of an image that was not read for 30 days", async () => {
  let now = Date.parse("2026-03-01T12:00:00.000Z");
  const storage = createMemoryBlobStore();
  await withSite({ ...OPTIONS, storage, now: () => now }, async (site) => {
    const expiresAt = new Date(now + 300 * DAY_MS).toISOString();
    const idle = await upload(site, await noiseJpeg(30), "image/jpeg", { expiresAt });
    const used = await upload(site, await noiseJpeg(40), "image/jpeg", { expiresAt });
    for (const image of [idle, used]) {
      await read(site, image);
      await expect.poll(async () => (await renditionsOf(storage, image)).size).toBe(1);
    }
    for (let day = 0; day < 32; day++) {
      now += DAY_MS;
      await read(site, used);
      await site.images.sweep();
    }
    expect([
      [...(await renditionsOf(storage, idle)).keys()],
      [...(await renditionsOf(storage, used)).keys()],
    ]).toEqual([[], ["png-40x40"]]);
    expect(await storage.stat(`${idle.id}/original`)).not.toBeNull();
    await read(site, idle);
    await expect.poll(async () => (await renditionsOf(storage, idle)).size).toBe(1);
  });
});

test("twelve large sizes of one noise JPEG stay within ten times the original", async () => {
  const storage = createMemoryBlobStore();
  await withSite({ ...OPTIONS, storage }, async (site) => {
    const image = await upload(site, await noiseJpeg(1200), "image/jpeg");
    const limit = Math.max(8 * MIB, 10 * Number(image.size));
    let served = 0;
    for (let size = 0; size < 12; size++) {
      served += await read(site, image, `?resize=${1199 - size}x`);
      expect(sumOf(await renditionsOf(storage, image))).toBeLessThanOrEqual(limit);
    }
    expect(served).toBeGreaterThan(40 * MIB);
    await expect
      .poll(async () => [...(await renditionsOf(storage, image)).keys()])
      .toContain("png-1188x1188");
    expect(sumOf(await renditionsOf(storage, image))).toBeGreaterThan(limit / 2);
  });
});
