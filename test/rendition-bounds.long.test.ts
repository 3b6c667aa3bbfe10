import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages, type ImagesOptions } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import { createRenderer } from "@outrigger/imaging";
import { createRedisBlobStore } from "@outrigger/redis";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startHost } from "./support/hosts.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { addressOf, type Created, upload } from "./support/service.ts";

const DAY_MS = 86_400_000;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.close());

type OpenStore = () => BlobStore;

/** Opens one store, each time as another process does. */
const STORES: Record<string, () => Promise<OpenStore>> = {
  async "a directory"() {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-bounds-"));
    closing.push(() => rm(directory, { recursive: true, force: true }));
    return () => createFsBlobStore({ directory });
  },
  async Redis() {
    const prefix = `bounds${Math.random().toString(36).slice(2)}`;
    return () => createRedisBlobStore({ url: redis.url, prefix, timeoutMs: 10_000 });
  },
};

/** One process, with a clock that the test moves. */
async function startNode(storage: BlobStore, clock: { now: number }, options: Partial<ImagesOptions> = {}) {
  const errors: unknown[] = [];
  const images = createImages({
    ...{
      storage,
      renderer: createRenderer({ timeoutMs: 60_000 }),
      secret: "a secret of at least thirty-two bytes",
    },
    ...{ rateLimits: false, asyncAfterMs: false, sweepEveryMs: false, memoryBytes: 0 },
    now: () => clock.now,
    onError: (error) => errors.push(error),
    ...options,
  });
  const host = await startHost("Express 5", images, "/img");
  closing.push(async () => {
    await host.close();
    await images.close();
    expect(errors).toEqual([]);
  });
  const read = async ({ id }: Created, query = "") => {
    const reply = await fetch(addressOf(host, id, "png") + query);
    expect(reply.status).toBe(200);
    return (await reply.arrayBuffer()).byteLength;
  };
  return { ...host, images, read };
}

function noiseJpeg(side: number): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const create = { width: side, height: side, channels: 3, background: "#000", noise } as const;
  return sharp({ create }).jpeg({ quality: 60 }).toBuffer();
}

const soon = (clock: { now: number }) => ({ expiresAt: new Date(clock.now + 300 * DAY_MS).toISOString() });

/** Keys of what is stored. */
async function renditionsIn(store: BlobStore): Promise<string[]> {
  const { keys } = await store.list("");
  return keys.filter((each) => each.includes("/renditions/"));
}

describe.each(Object.entries(STORES))("in %s", (_name, prepare) => {
  test("the sweep deletes the renditions of an image that was not read for 30 days", async () => {
    const open = await prepare();
    const clock = { now: Date.parse("2026-03-01T12:00:00.000Z") };
    const store = open();
    const node = await startNode(store, clock);
    const [idle, used] = await Promise.all(
      [30, 40].map(async (side) => upload(node, await noiseJpeg(side), "image/jpeg", soon(clock))),
    );
    if (idle === undefined || used === undefined) throw new Error("Two were uploaded");
    for (const image of [idle, used]) await node.read(image);
    await expect.poll(async () => (await renditionsIn(store)).length).toBe(2);
    for (let day = 0; day < 32; day++) {
      clock.now += DAY_MS;
      await node.read(used);
      await node.images.sweep();
    }
    expect(await renditionsIn(store)).toEqual([`${used.id}/renditions/png-40x40`]);
    expect(await store.stat(`${idle.id}/original`)).not.toBeNull();
    await node.read(idle);
    await expect.poll(async () => (await renditionsIn(store)).length).toBe(2);
  });
});
