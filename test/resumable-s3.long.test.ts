import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from "@aws-sdk/client-s3";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import type { Host } from "./support/listen.ts";
import { beginByTus, sendByTus, tus } from "./support/resume.ts";
import { type S3Access, useS3Server } from "./support/s3-server.ts";
import { bytesOf, type Site, startSite } from "./support/service.ts";
import { type SpoilingProxy, startSpoilingProxy } from "./support/spoiling-proxy.ts";

const MIB = 1024 * 1024;
/** As parts of the store. */
const PART = 8 * MIB;

let s3: S3Access;
let proxy: SpoilingProxy;
let bucket: string;
let site: Site;
/** 20 MiB: two parts and a half. */
let large: Buffer;
/** What the proxy does with a request to S3 before it passes it on: it answers 503, or not at all. */
let fault: (request: string) => "503" | "silence" | null;

beforeAll(async () => {
  s3 = await useS3Server();
  const raw = { width: 2800, height: 2500, channels: 3 } as const;
  large = await sharp(randomBytes(2800 * 2500 * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer();
  expect(large.length).toBeGreaterThan(20 * MIB);
  fault = () => null;
  proxy = await startSpoilingProxy(() => s3.endpoint, {
    answer(incoming, outgoing) {
      const given = fault(nameRequest(incoming));
      if (given === "503") incoming.on("end", () => setTimeout(() => outgoing.writeHead(503).end(), 1000));
      return given !== null;
    },
  });
  bucket = await s3.createBucket();
  site = await startSite({ resumable: place(), maxUploadBytes: 64 * MIB, keepMetadata: true });
});
afterEach(() => {
  fault = () => null;
});
afterAll(async () => {
  await site.close();
  await proxy.close();
  await s3.stop();
});

function place() {
  const { credentials } = s3;
  return { s3: { bucket, region: "us-east-1", forcePathStyle: true, endpoint: proxy.origin, credentials } };
}

/** Such as `PUT part 2`, `POST complete` or `DELETE .part0`. */
function nameRequest({ method, url = "" }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const part = searchParams.get("partNumber");
  if (part !== null) return `${method} part ${part}`;
  if (method === "POST" && searchParams.has("uploadId")) return "POST complete";
  return `${method} ${pathname.slice(pathname.lastIndexOf("."))}`;
}

const send = (url: string, start: number, end = large.length) =>
  tus("PATCH", url, { "Upload-Offset": String(start) }, large.subarray(start, end));

async function offsetOf(url: string): Promise<number> {
  const reply = await tus("HEAD", url);
  expect(reply.status).toBe(200);
  return Number(reply.headers.get("upload-offset"));
}

/** The image has the bytes of the file, and nothing is left in the bucket. */
async function expectWhole({ base }: Pick<Host, "base">, id: string | null | undefined): Promise<void> {
  const { bytes } = await bytesOf(`${base}/api/images/${id}.png`);
  expect(bytes.equals(large)).toBe(true);
  const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  expect(Contents.map(({ Key }) => Key)).toEqual([]);
}

test("when S3 refuses the second of three parts, the upload continues after the first, and the image has the bytes of the file", async () => {
  const asked: string[] = [];
  fault = (request) => {
    asked.push(request);
    return request === "PUT part 2" ? "503" : null;
  };
  const url = await beginByTus(site, large.length, "image/png");
  expect((await send(url, 0)).status).toBe(503);
  expect(asked).toContain("PUT part 2");
  expect(asked).not.toContain("PUT part 3");
  fault = () => null;
  expect(await offsetOf(url)).toBe(PART);
  const last = await send(url, PART);
  expect(last.status).toBe(204);
  await expectWhole(site, last.headers.get("x-service-image-id"));
});

test("kill -9 between two parts: the next process continues after the stored parts, and the image has the bytes of the file", async () => {
  const cwd = await temporaryDirectory();
  const images = { rateLimits: false, asyncAfterMs: false, maxUploadBytes: 64 * MIB, keepMetadata: true };
  const config = { images: { ...images, resumable: place() } };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
  const first = serve(cwd);
  const url = await beginByTus({ base: await first.url }, large.length, "image/png");
  fault = (request) => {
    if (request !== "PUT part 3") return null;
    first.child.kill("SIGKILL");
    return "silence";
  };
  expect(await send(url, 0).catch(() => null)).toBeNull();
  await first.exit;
  fault = () => null;
  const second = serve(cwd);
  const base = await second.url;
  const uploadUrl = url.replace(await first.url, base);
  expect(await offsetOf(uploadUrl)).toBe(2 * PART);
  const sent = await sendByTus({ base }, large, { uploadUrl });
  await expectWhole({ base }, sent.header("x-service-image-id"));
  const log = second.output.stdout + second.output.stderr;
  expect(log).not.toContain(url.slice(url.lastIndexOf("/") + 1));
});

test("when S3 fails, pieces smaller than a part that were acknowledged stay, and count once", async () => {
  const url = await beginByTus(site, large.length, "image/png");
  expect((await send(url, 0, 3 * MIB)).status).toBe(204);
  for (const request of ["PUT .part0", "PUT part 1"]) {
    fault = (asked) => (asked === request ? "503" : null);
    expect((await send(url, 3 * MIB, request === "PUT part 1" ? 6 * MIB : 4 * MIB)).status).toBe(503);
    fault = () => null;
    expect(await offsetOf(url)).toBe(3 * MIB);
  }
  // Then the first piece is in a part, and beside it.
  fault = (asked) => (asked === "DELETE .part0" ? "503" : null);
  expect((await send(url, 3 * MIB, 6 * MIB)).status).toBe(204);
  const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  expect(Contents.some(({ Key = "" }) => Key.endsWith(".part0"))).toBe(true);
  expect(await offsetOf(url)).toBe(6 * MIB);
  fault = () => null;
  expect((await send(url, 6 * MIB, 7 * MIB)).headers.get("upload-offset")).toBe(String(7 * MIB));
  const last = await send(url, 7 * MIB);
  expect(last.status).toBe(204);
  await expectWhole(site, last.headers.get("x-service-image-id"));
});

test("an upload whose last part is stored becomes an image once S3 joins its parts, after any number of failures", async () => {
  const url = await beginByTus(site, large.length, "image/png");
  fault = (request) => (request === "POST complete" ? "503" : null);
  expect((await send(url, 0)).status).toBe(503);
  expect((await tus("HEAD", url)).status).toBeGreaterThanOrEqual(400);
  fault = () => null;
  const reply = await tus("HEAD", url);
  expect([reply.status, reply.headers.get("upload-offset")]).toEqual([200, String(large.length)]);
  expect(reply.headers.get("x-service-image-pin")).toBeTruthy();
  await expectWhole(site, reply.headers.get("x-service-image-id"));
});

test("an upload whose parts a rule of the bucket aborted gets 404, and its removal is no error", async () => {
  const url = await beginByTus(site, large.length, "image/png");
  expect((await send(url, 0, 9 * MIB)).status).toBe(204);
  const { Uploads = [] } = await s3.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  expect(Uploads).toHaveLength(1);
  for (const { Key, UploadId } of Uploads) {
    await s3.client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
  }
  expect((await tus("HEAD", url)).status).toBe(404);
  expect((await send(url, 9 * MIB)).status).toBe(404);
  expect((await tus("DELETE", url)).status).toBe(204);
});

test("when S3 cannot be read, an upload is unavailable, not gone", async () => {
  const url = await beginByTus(site, large.length, "image/png");
  fault = (request) => (request === "GET .info" ? "503" : null);
  expect([423, 503]).toContain((await tus("HEAD", url)).status);
  fault = () => null;
  expect(await offsetOf(url)).toBe(0);
  await tus("DELETE", url);
});
