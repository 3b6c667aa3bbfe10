import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { createS3BlobStore, type S3BlobStore } from "@outrigger/s3";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type S3Access, useS3Server } from "../support/s3-server.ts";
import { startSpoilingProxy } from "../support/spoiling-proxy.ts";

const LARGE_BYTES = 24 * 2 ** 20;

let server: S3Access;
let bucket: string;
beforeAll(async () => {
  server = await useS3Server();
  bucket = await server.createBucket();
});
afterAll(() => server.stop());

/** A store behind a proxy that flips a bit in the bodies of the next `flips.left` reads. */
async function createFlippedStore() {
  const flips = { left: 0 };
  const { origin, close } = await startSpoilingProxy(() => server.endpoint, {
    reply({ method }, passed) {
      const at = passed.body.length - 100;
      if (method !== "GET" || at < 0 || flips.left === 0) return passed;
      flips.left--;
      passed.body.writeUInt8(passed.body.readUInt8(at) ^ 8, at);
      return passed;
    },
  });
  onTestFinished(close);
  const { credentials } = server;
  const store = createS3BlobStore({ bucket, endpoint: origin, credentials, timeoutMs: 10_000 });
  onTestFinished(() => store.close());
  return { store, flips };
}

/** The bytes received, and the error that ended them. */
async function received(store: S3BlobStore, key: string): Promise<{ bytes: Buffer; code: unknown }> {
  const chunks: Buffer[] = [];
  try {
    const blob = await store.get(key);
    if (blob === null) throw new Error("There is no such key");
    for await (const chunk of Buffer.isBuffer(blob.body) ? [blob.body] : blob.body)
      chunks.push(chunk as Buffer); // As of each store.
    return { bytes: Buffer.concat(chunks), code: null };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), code: Object(error).code };
  }
}

test("a bit flipped in a reply costs one attempt if the body is small, and three in a row reject", async () => {
  const { store, flips } = await createFlippedStore();
  const bytes = randomBytes(600_000);
  await store.put("small", bytes);
  flips.left = 1;
  const first = await received(store, "small");
  expect([first.bytes.equals(bytes), flips.left]).toEqual([true, 0]);
  flips.left = 3;
  expect(await received(store, "small")).toMatchObject({ code: "store_unavailable" });
  expect(flips.left).toBe(0);
});

test("a bit flipped in a large reply fails its stream before the last bytes, also if the upload was spooled", async () => {
  const { store, flips } = await createFlippedStore();
  const bytes = randomBytes(LARGE_BYTES);
  for (const body of [bytes, Readable.from([bytes], { objectMode: false })]) {
    await store.put("large", body);
    flips.left = 1;
    const flipped = await received(store, "large");
    expect(flipped.code).toBe("store_unavailable");
    expect(flipped.bytes.length).toBeLessThan(LARGE_BYTES);
    expect((await received(store, "large")).bytes.equals(bytes)).toBe(true);
  }
});

test("objects without a checksum are read as they come", async () => {
  const { store, flips } = await createFlippedStore();
  const bytes = randomBytes(1000);
  const content = Buffer.concat([bytes, Buffer.alloc(16)]);
  await server.client.send(new PutObjectCommand({ Bucket: bucket, Key: "blobs/bare", Body: content }));
  expect((await received(store, "bare")).bytes.equals(bytes)).toBe(true);
  flips.left = 1;
  expect((await received(store, "bare")).bytes.equals(bytes)).toBe(false);
});
