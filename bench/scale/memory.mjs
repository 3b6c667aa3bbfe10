import { randomBytes } from "node:crypto";
import { createImageAdmin } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { formatColumns } from "../src/table.mjs";
import { ask, pathOf, uploadTo } from "./api.mjs";
import { startNode, storageOf } from "./node-process.mjs";

/** @import { RedisServer } from "../../test/support/redis-server.ts" */
/** @import { Bench } from "../src/bench.mjs" */

/** Copies of a real record, to measure the server memory of one more. */
const COPIES = { full: 100_000, quick: 10_000, smoke: 200 };
const SWEPT = { full: 2000, quick: 300, smoke: 10 };
const AT_ONCE = 32;
const PICTURE_BYTES = 200_000;
const DAY_MS = 86_400_000;

/**
 * The memory of an image in a Redis that stores its record, with its pictures in S3, and the rate at which such records
 * are swept.
 * @param {Bench} bench
 * @returns {Promise<import("../scale.mjs").Measured | null>} `null` where Redis or Ceph is not installed.
 */
export async function measureMemory(bench) {
  const redis = await bench.startRedis();
  const s3 = await bench.startS3();
  if (redis === null || s3 === null) return null;
  const config = {
    storage: storageOf(redis.url, s3),
    images: { sweepEveryMs: /** @type {const} */ (false) },
  };
  const node = await startNode(bench.corpus.directory, config, s3);
  const store = createRedisBlobStore({ url: redis.url, supersededMs: 1000 });
  try {
    const picture = await bench.corpus.ofBytes(PICTURE_BYTES);
    const { id, pin } = await uploadTo(node, picture);
    await ask(node, pathOf(id, "?resize=100x"));
    const living = await keysOf(redis, `*${id}*`);
    const { size } = (await store.stat(`${id}/record`)) ?? { size: Number.NaN };
    const record = await readRecord(store, id);

    const copies = COPIES[bench.settings.mode];
    const before = await usedBytes(redis);
    await copy(store, record, copies, () => Date.now() + 30 * DAY_MS);
    const each = ((await usedBytes(redis)) - before) / copies;
    const due = (await keysOf(redis, "*{due:images:*")).bytes / copies;

    await ask(node, pathOf(id, "", "json"), { method: "DELETE", pin, status: 204 });
    const gone = await keysOf(redis, `*${id}*`);
    const swept = await sweepRate(bench, redis, store, record);
    const rows = [
      ["record, as JSON", `${size} bytes`],
      ["keys of a living image", `${living.count}, ${living.bytes} bytes by MEMORY USAGE`],
      [
        `one more image among ${copies.toLocaleString("en")}, with its entry among the due dates`,
        `${each.toFixed(0)} bytes of \`used_memory\``,
      ],
      ["of these in the list of due dates, which is 256 keys", `${due.toFixed(0)} bytes by MEMORY USAGE`],
      ["keys of a deleted image", `${gone.count}, ${gone.bytes} bytes by MEMORY USAGE`],
      ["sweep of expired records, one process", `${swept.perSecond.toFixed(0)} per second, ${swept.cpu}`],
    ];
    const bytes = (/** @type {number} */ value) => ({ value: Math.round(value), unit: "bytes" });
    return {
      table: formatColumns(["What", "Size"], rows, new Set()),
      measured: {
        "redis.imageBytes": bytes(each),
        "redis.goneBytes": bytes(gone.bytes),
        "redis.sweptPerSecond": { value: Math.round(swept.perSecond), unit: "images per second" },
      },
    };
  } finally {
    await store.close();
    await node.stop();
  }
}

/** @typedef {ReturnType<typeof createRedisBlobStore>} Store */

/** @param {Store} store @param {string} id @returns {Promise<Record<string, unknown>>} */
async function readRecord(store, id) {
  const found = await store.get(`${id}/record`);
  if (found === null || !Buffer.isBuffer(found.body)) throw new Error("There is no record");
  return JSON.parse(found.body.toString());
}

/**
 * @param {Store} store
 * @param {Record<string, unknown>} record
 * @param {number} count
 * @param {() => number} expiry
 */
async function copy(store, record, count, expiry) {
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      const id = randomBytes(16).toString("base64url");
      const expiresAt = expiry();
      await store.put(`${id}/record`, Buffer.from(JSON.stringify({ ...record, id, expiresAt })));
      await store.addDue("images", { id, dueMs: expiresAt });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/**
 * @param {Bench} bench
 * @param {RedisServer} redis
 * @param {Store} store
 * @param {Record<string, unknown>} record
 */
async function sweepRate(bench, redis, store, record) {
  const count = SWEPT[bench.settings.mode];
  await copy(store, record, count, () => Date.now() - 1000);
  const admin = createImageAdmin({ storage: createRedisBlobStore({ url: redis.url }) });
  try {
    const began = performance.now();
    const before = process.cpuUsage();
    const { emptied, failed } = await admin.sweep();
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - began) / 1000;
    bench.checks.that("all that were due were swept", emptied === count && failed === 0);
    return { perSecond: count / seconds, cpu: `${((user + system) / count).toFixed(0)} µs of CPU each` };
  } finally {
    await admin.close();
  }
}

/** @param {RedisServer} redis @param {string} pattern */
async function keysOf(redis, pattern) {
  const names = (await redis.cli("--scan", "--pattern", pattern)).split("\n").filter(Boolean);
  let bytes = 0;
  for (const name of names) bytes += Number(await redis.cli("MEMORY", "USAGE", name, "SAMPLES", "0"));
  return { count: names.length, bytes };
}

/** @param {RedisServer} redis */
async function usedBytes(redis) {
  return Number(/^used_memory:(\d+)/m.exec(await redis.cli("INFO", "memory"))?.[1]);
}
