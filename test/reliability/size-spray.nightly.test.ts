// Nightly: measures a service under ten clients that ask for all sizes.
import { createMemoryBlobStore } from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { NO_RATE_LIMITS, startSite } from "../support/service.ts";
import { amount } from "../support/soak.ts";
import { tally } from "./nodes/requests.ts";
import { clientAt, uploadAs } from "./renders/clients.ts";

const SPRAYERS = 10;
const BOXES = amount(12, 120);
const READS = amount(8, 80);
/** The limit for one image's stored renditions of small pictures. */
const MAX_STORED_BYTES = 32 * 1024 ** 2;

interface Outcome {
  /** Results of the modest client. */
  statuses: Record<string, number>;
  /** Number of different sizes among the pictures sent to the sprayers. */
  sizes: number;
  stored: number;
  storedBytes: number;
}

/** Boxes that mostly result in the same size as another one: of a 400 × 300 picture, from one of the ten clients. */
function boxOf(sprayer: number, index: number): string {
  const width = 40 + 4 * (index % (BOXES / 2));
  const height = (width * 3) / 4;
  const boxes = [`${width}x`, `x${height}`, `${width}x${height}`, `${width}x${3000 + sprayer}`];
  return index < BOXES / 2 ? (boxes[sprayer % boxes.length] ?? "") : `${4000 + index}x${3000 + sprayer}`;
}

async function spray(change: (renderer: Renderer) => Renderer = (renderer) => renderer): Promise<Outcome> {
  const storage = createMemoryBlobStore();
  const renderer = createRenderer({ workers: 2, timeoutMs: 120_000 });
  const site = await startSite({
    storage,
    secret: "of no importance, 32 bytes at least",
    renderer: change(renderer),
    renderBudget: false,
    rateLimits: NO_RATE_LIMITS,
  });
  try {
    const owner = clientAt(site, 2);
    const sprayed = await uploadAs(owner, await pngPhoto(400, 300), "image/png");
    const small = await uploadAs(owner, await pngPhoto(200, 100), "image/png");
    const sizes = new Set<string>();
    const spraying = Array.from({ length: SPRAYERS }, async (_, sprayer) => {
      const client = clientAt(site, 100 + sprayer);
      for (let index = 0; index < BOXES; index++) {
        const { body } = await client.get(`api/images/${sprayed}.jpg?resize=${boxOf(sprayer, index)}`);
        const { width, height } = await sharp(body).metadata();
        sizes.add(`${width}x${height}`);
      }
    });
    const statuses: string[] = [];
    for (let read = 0; read < READS; read++) {
      const { status } = await owner.get(`api/images/${small}.png?resize=${10 + read}x`);
      statuses.push(String(status));
    }
    await Promise.all(spraying);
    const { keys } = await storage.list(`${sprayed}/renditions/`);
    const stats = await Promise.all(keys.map((key) => storage.stat(key)));
    return {
      statuses: tally(statuses),
      sizes: sizes.size,
      stored: keys.length,
      storedBytes: stats.reduce((sum, info) => sum + (info?.size ?? 0), 0),
    };
  } finally {
    await site.close();
  }
}

test(
  "ten clients spraying boxes store one rendition for each resulting size, and other clients are still answered",
  async () => {
    const { statuses, sizes, stored, storedBytes } = await spray();
    expect(statuses).toEqual({ 200: READS });
    // Half of the boxes are larger than the picture.
    expect(sizes).toBe(BOXES / 2 + 1);
    expect(stored).toBe(sizes);
    expect(storedBytes).toBeLessThan(MAX_STORED_BYTES);
  },
  amount(120_000, 3_600_000),
);

test("the check finds renditions stored under the requested box", async () => {
  const { sizes, stored } = await spray((renderer) => ({ ...renderer, measure: () => null }));
  expect(sizes).toBe(BOXES / 2 + 1);
  expect(stored).toBeGreaterThan(sizes);
});
