import { createMemoryBlobStore } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import sharp from "sharp";
import { expect, test } from "vitest";
import { addressOf, bytesOf, type Created, type Site, upload, withSite } from "./support/service.ts";

const DAY_MS = 86_400_000;
const OPTIONS = { secret: Buffer.alloc(32, 1), sweepEveryMs: false, memoryBytes: 0 } as const;

function noiseJpeg(side: number): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const create = { width: side, height: side, channels: 3, background: "#000", noise } as const;
  return sharp({ create }).jpeg({ quality: 60 }).toBuffer();
}

async function read(site: Site, { id }: Created): Promise<void> {
  expect((await bytesOf(addressOf(site, id, "png"))).response.status).toBe(200);
}

/** Names of the stored renditions of an image. */
async function renditionsOf(storage: BlobStore, { id }: Created): Promise<string[]> {
  const start = `${id}/renditions/`;
  return (await storage.list(start)).keys.map((key) => key.slice(start.length));
}

test("the sweep deletes the renditions of an image that was not read for 30 days", async () => {
  let now = Date.parse("2026-03-01T12:00:00.000Z");
  const storage = createMemoryBlobStore();
  await withSite({ ...OPTIONS, storage, now: () => now }, async (site) => {
    const expiresAt = new Date(now + 300 * DAY_MS).toISOString();
    const idle = await upload(site, await noiseJpeg(30), "image/jpeg", { expiresAt });
    const used = await upload(site, await noiseJpeg(40), "image/jpeg", { expiresAt });
    for (const image of [idle, used]) {
      await read(site, image);
      await expect.poll(async () => (await renditionsOf(storage, image)).length).toBe(1);
    }
    for (let day = 0; day < 32; day++) {
      now += DAY_MS;
      await read(site, used);
      await site.images.sweep();
    }
    expect([await renditionsOf(storage, idle), await renditionsOf(storage, used)]).toEqual([
      [],
      ["png-40x40"],
    ]);
    expect(await storage.stat(`${idle.id}/original`)).not.toBeNull();
    await read(site, idle);
    await expect.poll(async () => (await renditionsOf(storage, idle)).length).toBe(1);
  });
});
