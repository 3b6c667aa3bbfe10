import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createFsBlobStore, createMemoryBlobStore } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import { type Mounts, openMounts, whyNoMounts } from "./reliability/disk/mounts.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { beginByTus, sendByTus, storeUpTo, tus } from "./support/resume.ts";
import { type S3Access, useS3Server } from "./support/s3-server.ts";
import { bytesOf, type Site, startSite } from "./support/service.ts";

const MIB = 1024 * 1024;
const SECRET = "a secret of this test, of 32 bytes";
/** More than the claim of a dead process lasts. */
const PATIENT = { retryDelays: Array.from({ length: 40 }, () => 1000) };

let photo: Buffer;
beforeAll(async () => {
  photo = await jpegPhoto();
});

async function serveIn(
  cwd: string,
  images: object = {},
): Promise<ReturnType<typeof serve> & { base: string }> {
  const config = { images: { rateLimits: false, asyncAfterMs: false, ...images } };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
  const server = serve(cwd);
  return { ...server, base: await server.url };
}

test("kill -9 after the last byte and before the record: the client continues at the next start, and one image exists", async () => {
  const cwd = await temporaryDirectory();
  const large = await sharp({ create: { width: 6000, height: 6000, channels: 3, background: "#a53" } })
    .png()
    .toBuffer();
  const first = await serveIn(cwd);
  const url = await beginByTus(first, large.length, "image/png");
  const last = tus("PATCH", url, { "Upload-Offset": "0" }, large).catch(() => null);
  const uploads = join(cwd, "data", "uploads");
  const sizes = async () =>
    Promise.all((await readdir(uploads)).map(async (name) => (await stat(join(uploads, name))).size));
  await expect.poll(sizes, { interval: 5 }).toContain(large.length);
  first.child.kill("SIGKILL");
  await first.exit;
  expect(await last).toBeNull();
  expect(await sizes()).toContain(large.length);
  const second = await serveIn(cwd);
  const again = url.replace(first.base, second.base);
  const sent = await sendByTus(second, large, { uploadUrl: again, ...PATIENT });
  expect(sent.status).toBe(200);
  const { bytes } = await bytesOf(`${second.base}/api/images/${sent.header("x-service-image-id")}.png`);
  expect((await sharp(bytes).metadata()).width).toBe(6000);
  expect(await readdir(uploads)).toEqual([]);
  const log = second.output.stdout + second.output.stderr;
  expect(log).not.toContain(url.slice(url.lastIndexOf("/") + 1));
  expect(log).toContain("/api/uploads/[redacted]");
});

test("a piece of 100 MB needs little memory", async () => {
  const cwd = await temporaryDirectory();
  const server = await serveIn(cwd, { maxUploadBytes: 200 * MIB });
  const peak = async () => {
    const status = await readFile(`/proc/${server.child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
  };
  const url = await beginByTus(server, 100 * MIB + 1);
  const before = await peak();
  const large = Buffer.alloc(100 * MIB, 1);
  photo.copy(large);
  const reply = await tus("PATCH", url, { "Upload-Offset": "0" }, large);
  expect([reply.status, reply.headers.get("upload-offset")]).toEqual([204, String(100 * MIB)]);
  expect((await peak()) - before).toBeLessThan(40 * MIB);
});

test("a sender that stops is answered after the idle time, keeps what arrived, and tus-js-client goes on by itself", async () => {
  const site = await startSite({ resumable: true, uploadIdleMs: 500 });
  try {
    const url = await beginByTus(site, photo.length);
    const stalled = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(photo.subarray(0, 70_000)),
    });
    const reply = await fetch(url, {
      method: "PATCH",
      headers: {
        "Tus-Resumable": "1.0.0",
        "Upload-Offset": "0",
        "Content-Type": "application/offset+octet-stream",
      },
      body: stalled,
      duplex: "half",
    } as RequestInit);
    expect([reply.status, reply.headers.get("upload-offset")]).toEqual([204, "70000"]);
    expect((await sendByTus(site, photo, { uploadUrl: url })).status).toBe(204);
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
});

const trouble = whyNoMounts();
test.skipIf(trouble !== null)(
  "on a full disk a piece gets 507, and the upload continues once there is room",
  async () => {
    const mounts: Mounts = await openMounts();
    const disk = await mounts.mount("pieces", ["-t", "tmpfs", "-o", "size=1m", "none"]);
    const site = await startSite({ resumable: { directory: join(disk, "uploads") } });
    try {
      await writeFile(join(disk, "filler"), Buffer.alloc(900_000));
      const url = await beginByTus(site, photo.length);
      const reply = await tus("PATCH", url, { "Upload-Offset": "0" }, photo);
      expect([reply.status, (await reply.json()).title]).toEqual([507, "Insufficient Storage"]);
      const offset = Number((await tus("HEAD", url)).headers.get("upload-offset"));
      expect(offset).toBeLessThan(photo.length);
      await writeFile(join(disk, "filler"), "");
      expect((await sendByTus(site, photo, { uploadUrl: url })).status).toBe(204);
      expect(await readdir(join(disk, "uploads"))).toEqual([]);
    } finally {
      await site.close();
      await mounts.close();
    }
  },
);

describe("several nodes", () => {
  let redis: RedisServer;
  let s3: S3Access;
  const open: Site[] = [];
  beforeAll(async () => {
    [redis, s3] = await Promise.all([startRedis(), useS3Server()]);
  });
  afterAll(async () => {
    await Promise.all(open.map((site) => site.close()));
    await redis.close();
    await s3.stop();
  });

  /** Two nodes on one storage. */
  async function startNodes(place: "directory" | "s3"): Promise<[Site, Site]> {
    const cwd = await temporaryDirectory();
    const { endpoint, credentials } = s3;
    const bucket = place === "s3" ? await s3.createBucket() : "";
    const client = { region: "us-east-1", forcePathStyle: true, endpoint, credentials };
    const resumable = place === "s3" ? { s3: { bucket, ...client } } : { directory: join(cwd, "uploads") };
    const prefix = `${place}-${open.length}`;
    const start = () =>
      startSite({
        resumable,
        secret: SECRET,
        keepMetadata: true,
        storage: {
          records: createRedisBlobStore({ url: redis.url, prefix }),
          originals: createFsBlobStore({ directory: join(cwd, "data") }),
          renditions: createMemoryBlobStore(),
        },
      });
    const nodes: [Site, Site] = [await start(), await start()];
    open.push(...nodes);
    return nodes;
  }

  test.each(["directory", "s3"] as const)(
    "with a %s, an upload changes the node with each piece",
    async (place) => {
      const [first, second] = await startNodes(place);
      // More than one part of a bucket.
      const large = await jpegPhoto(6000, 4500);
      expect(large.length).toBeGreaterThan(6 * MIB);
      const url = await beginByTus(first, large.length);
      const there = url.replace(first.base, second.base);
      const cut = Math.floor(large.length * 0.6);
      await storeUpTo(url, large, cut);
      const sent = await sendByTus(second, large, { uploadUrl: there, chunkSize: 3 * MIB, ...PATIENT });
      const { bytes } = await bytesOf(`${first.base}/api/images/${sent.header("x-service-image-id")}.jpg`);
      expect(bytes.equals(large)).toBe(true);
      expect((await tus("HEAD", url)).headers.get("x-service-image-pin")).toBe(
        sent.header("x-service-image-pin"),
      );
      expect([...first.errors, ...second.errors]).toEqual([]);
    },
  );

  test("with s3, a piece on another node waits for the one that is being written", async () => {
    const [first, second] = await startNodes("s3");
    const url = await beginByTus(first, photo.length);
    const there = url.replace(first.base, second.base);
    const cut = photo.length >> 1;
    const asked = once(second.server, "request");
    const slow = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(photo.subarray(0, cut));
        await asked;
        // Until the other piece waits.
        await delay(2000);
        controller.close();
      },
    });
    const headers = {
      "Tus-Resumable": "1.0.0",
      "Upload-Offset": "0",
      "Content-Type": "application/offset+octet-stream",
    };
    const begun = once(first.server, "request");
    const writing = fetch(url, { method: "PATCH", headers, body: slow, duplex: "half" } as RequestInit);
    await begun;
    // Until it has its lease.
    await delay(1000);
    const waiting = await tus("PATCH", there, { "Upload-Offset": String(cut) }, photo.subarray(cut));
    const written = await writing;
    expect([
      written.status,
      written.headers.get("upload-offset"),
      await written.text(),
      first.errors,
    ]).toEqual([204, String(cut), "", []]);
    expect(waiting.headers.get("x-service-image-pin")).toBeTruthy();
  });
});
