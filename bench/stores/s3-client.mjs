import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { lengthOf } from "../src/bodies.mjs";
// Loaded although unused: the cost of garbage collection depends on the heap, so all processes load the same modules.
import "@outrigger/s3";
import { required } from "./kinds.mjs";

/** @import { Keeper, StoreOptions } from "./kinds.mjs" */

/** Longer streams are buffered in a file. */
const MEMORY_BYTES = 8 * 1024 * 1024;
const WHOLE_BYTES = 1024 * 1024;

/**
 * A careful developer's version: an existing object is not overwritten. S3 accepts no stream of unknown length, so a
 * short one is buffered in memory and a long one in a file.
 * @param {StoreOptions} options
 * @returns {Promise<Keeper>}
 */
export async function openS3Client(options) {
  return open(options, async (body, send) => {
    /** @type {Buffer[]} */
    const held = [];
    let bytes = 0;
    const chunks = body[Symbol.asyncIterator]();
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      held.push(next.value);
      bytes += next.value.length;
      if (bytes > MEMORY_BYTES) return viaFile(held, chunks, send);
    }
    return send(Buffer.concat(held, bytes), bytes);
  });
}

/**
 * A stream of known length needs no file.
 * @param {StoreOptions} options
 * @returns {Promise<Keeper>}
 */
export async function openS3ClientWithLengths(options) {
  return open(options, (body, send) => send(body, lengthOf(body)));
}

/** @typedef {(body: Buffer | Readable, length: number) => Promise<unknown>} Send */

/**
 * @param {StoreOptions} options
 * @param {(body: Readable, send: Send) => Promise<unknown>} sendStream
 * @returns {Promise<Keeper>}
 */
async function open(options, sendStream) {
  const Bucket = required(options, "bucket");
  const client = new S3Client({
    endpoint: required(options, "endpoint"),
    region: "us-east-1",
    credentials: required(options, "credentials"),
    forcePathStyle: true,
    // As in our store; the default checksums cost more.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return {
    put(Key, body) {
      const send = (/** @type {Buffer | Readable} */ Body, /** @type {number} */ ContentLength) =>
        client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength, IfNoneMatch: "*" }));
      return Buffer.isBuffer(body) ? send(body, body.length) : sendStream(body, send);
    },
    async get(Key) {
      const { Body, ContentLength = 0 } = await client.send(new GetObjectCommand({ Bucket, Key }));
      if (!(Body instanceof Readable)) throw new Error("The response has no stream");
      if (ContentLength > WHOLE_BYTES) return Body;
      const { buffer, byteOffset, byteLength } = await Body.transformToByteArray();
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    remove: (Key) => client.send(new DeleteObjectCommand({ Bucket, Key })),
    close: async () => client.destroy(),
  };
}

/**
 * @param {Buffer[]} held
 * @param {AsyncIterator<Buffer>} rest
 * @param {Send} send
 */
async function viaFile(held, rest, send) {
  const path = join(tmpdir(), `bench-s3-${randomUUID()}`);
  try {
    const file = createWriteStream(path, { highWaterMark: WHOLE_BYTES });
    const write = async (/** @type {Buffer} */ chunk) => {
      if (!file.write(chunk)) await new Promise((resolve) => file.once("drain", () => resolve(undefined)));
    };
    for (const chunk of held.splice(0)) await write(chunk);
    for (let next = await rest.next(); !next.done; next = await rest.next()) await write(next.value);
    await finished(file.end());
    return await send(createReadStream(path, { highWaterMark: 256 * 1024 }), (await stat(path)).size);
  } finally {
    await rm(path, { force: true });
  }
}
