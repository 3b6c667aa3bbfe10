import { randomBytes } from "node:crypto";
import { createImagesClient, type UploadProgress } from "@outrigger/client";
import { createHeaderRenderer } from "@outrigger/testing";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startSite } from "../support/quick-site.ts";
import type { Site } from "../support/service.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { frontForAll, photo, refusalOf } from "./image-client.ts";
import { fileOf } from "./sources.ts";

const MB = 1_000_000;
/** Bytes after the end of a JPEG do no harm. */
const padded = (bytes: number) => Buffer.concat([photo, Buffer.alloc(bytes - photo.length)]);
/** A PNG of 10 MB, in which every byte counts. */
const SIDE = 1830;
const noise = { width: SIDE, height: SIDE, channels: 3 } as const;
const large = fileOf(
  await sharp(randomBytes(SIDE * SIDE * 3), { raw: noise })
    .png({ compressionLevel: 0 })
    .toBuffer(),
  "noise.png",
  "image/png",
);
const { size } = large;

let site: Site;
let proxy: TcpProxy;
beforeAll(async () => {
  site = await startSite({ resumable: true });
});
beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(site.origin).port));
});
afterEach(async () => {
  await proxy.close();
  expect(site.errors).toEqual([]);
});
afterAll(() => site.close());
const client = () => createImagesClient({ baseUrl: `${proxy.endpoint}/img` });

test("a resumable upload that breaks at 90 % continues at the last byte that the service has", async () => {
  const events: UploadProgress[] = [];
  const image = await client().upload(large, {
    name: "Bucht & »Boot«",
    focus: [0.25, 0.5],
    onProgress(progress) {
      events.push(progress);
      if (proxy.cuts() === 0 && progress.sentBytes > 0.9 * size)
        proxy.cut({ direction: "up", afterBytes: 0, times: 1 });
    },
    resumable: true,
  });
  expect(proxy.cuts()).toBe(1);
  expect(proxy.sentBytes()).toBeGreaterThan(size);
  expect(proxy.sentBytes()).toBeLessThan(1.2 * size);
  expect(events.slice(1).every(({ sentBytes }) => sentBytes > 0)).toBe(true);
  expect(events.at(-1)).toEqual({ sentBytes: size, totalBytes: size });
  expect(image).toMatchObject({
    name: "Bucht & »Boot«",
    status: "ready",
    focus: [0.25, 0.5],
    width: SIDE,
  });
  expect(image.editUrl).toBe(`${proxy.endpoint}/img/${image.id}/edit?pin=${image.pin}`);
  expect("etag" in image).toBe(false);
  expect(await client().edit(image.id, image.pin, { name: "Bay" })).toMatchObject({ name: "Bay" });
});

test("a resumable upload whose last reply is lost resolves with the image and its PIN", async () => {
  const file = fileOf(padded(3 * MB));
  const before = await countOf();
  const image = await client().upload(file, {
    resumable: true,
    onProgress({ sentBytes }) {
      if (sentBytes === file.size && proxy.cuts() === 0)
        proxy.cut({ direction: "down", afterBytes: 0, times: 1 });
    },
  });
  expect(proxy.cuts()).toBe(1);
  expect(await countOf()).toBe(before + 1);
  await client().remove(image.id, image.pin);
});

test("an aborted upload deletes the part that the service has", async () => {
  const abort = new AbortController();
  const parts = new Set<string>();
  const watched = createImagesClient({
    baseUrl: site.base,
    fetch(input, init) {
      if (init?.method === "PATCH") parts.add(String(input));
      return fetch(input, init);
    },
  });
  const upload = watched.upload(large, {
    signal: abort.signal,
    resumable: true,
    onProgress: ({ sentBytes }) => sentBytes > 8.5 * MB && abort.abort("changed my mind"),
  });
  await expect(upload).rejects.toBe("changed my mind");
  const [part = ""] = parts;
  const headers = { "Tus-Resumable": "1.0.0", "User-Agent": "test" };
  await expect.poll(async () => (await fetch(part, { method: "HEAD", headers })).status).toBe(404);
});

test("a refused resumable upload has the status and the reason of the service", async () => {
  const text = fileOf(Buffer.alloc(2 * MB, "text "), "notes.jpg");
  const refusal = await refusalOf(client().upload(text, { resumable: true }));
  expect(refusal).toMatchObject({ status: 415, title: "Unsupported Media Type" });
  expect(refusal.detail).not.toBe("");
  expect(proxy.sentBytes()).toBeLessThan(3 * MB);
});

test("a resumable upload with a ticket continues after a break, and other bytes under it are refused once", async () => {
  const { url: ticket } = await site.images.ticket({ pin: true });
  proxy.cut({ direction: "up", afterBytes: 3 * MB, times: 1 });
  const image = await client().upload(large, { ticket, resumable: true });
  expect([image.status, typeof image.pin, proxy.cuts()]).toEqual(["ready", "string", 1]);
  const sentBefore = proxy.sentBytes();
  const others = fileOf(padded(2 * MB));
  const refusal = await refusalOf(client().upload(others, { ticket, resumable: true }));
  expect(refusal).toMatchObject({
    status: 409,
    detail: expect.stringContaining("This ticket was sent before"),
  });
  expect(proxy.sentBytes() - sentBefore).toBeLessThan(2.2 * MB);
});

/** Images of the site. */
async function countOf(): Promise<number> {
  let count = 0;
  for await (const _ of site.images.list()) count++;
  return count;
}

const plain = frontForAll({ renderer: createHeaderRenderer() });

test("a service without resumable uploads gets the file in one request", async () => {
  const image = await plain.client().upload(fileOf(padded(2 * MB)), { resumable: true });
  expect(image).toMatchObject({ status: "ready" });
  const [first, second, ...more] = plain.front.requests.map(({ line }) => line);
  expect([first, second, more]).toEqual(["POST /img/api/uploads", "POST /img/api/images.json", []]);
});

test("a small file is sent in one request", async () => {
  await plain.client().upload(fileOf(photo), { resumable: true });
  const lines = plain.front.requests.map(({ line }) => line);
  expect(lines).toEqual(["POST /img/api/images.json"]);
});
