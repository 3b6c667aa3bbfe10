import { createImageAdmin } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { createS3BlobStore } from "@outrigger/s3";
import { commandsDuring, sum } from "../src/redis-monitor.mjs";
import { startS3Counter } from "../src/s3-counter.mjs";
import { formatColumns } from "../src/table.mjs";
import { ask, pathOf, uploadTo } from "./api.mjs";
import { startNode, storageOf } from "./node-process.mjs";

/** @import { ImageStorage } from "@outrigger/core" */
/** @import { Bench } from "../src/bench.mjs" */

/** Small enough to be read at once. */
const PICTURE_BYTES = 200_000;
const LIFE_MS = 3000;
/** The kinds of requests, as named in the table. */
export const REQUESTS = /** @type {const} */ ({
  upload: "upload",
  cold: "cold rendition, rendered and stored",
  hot: "the same from memory",
  stored: "the same from the store (another node)",
  swept: "sweep, one expired image with a rendition",
});
const CONFIG = {
  // Background work would be counted, too.
  images: { sweepEveryMs: /** @type {const} */ (false), asyncAfterMs: /** @type {const} */ (false) },
};

/** @typedef {{ redis: Record<string, number>, s3: Record<string, number> }} Counts */
/** @typedef {(work: () => Promise<unknown>) => Promise<Counts>} Count */

/**
 * The store requests caused by one request to `outrigger serve`, rate limits included.
 * @param {Bench} bench
 * @returns {Promise<{ table: string, split: Map<string, Counts> } | null>} `split`: with records in Redis and pictures in S3.
 *   `null` where Redis or Ceph is not installed.
 */
export async function countRequests(bench) {
  const redis = await bench.startRedis();
  const s3 = await bench.startS3();
  if (redis === null || s3 === null) return null;
  const counter = await startS3Counter(s3.port);
  /** @type {Count} */
  const count = async (work) => {
    /** @type {Record<string, number>} */
    let ofS3 = {};
    const ofRedis = await commandsDuring(redis, async () => {
      ofS3 = await counter.during(work);
    });
    return { redis: ofRedis, s3: ofS3 };
  };

  const { bucket, credentials } = s3;
  const openS3 = (/** @type {string} */ prefix) =>
    createS3BlobStore({ bucket, credentials, prefix, endpoint: counter.endpoint });
  const everythingInS3 = `s3://${bucket}/everything?endpoint=${counter.endpoint}&timeoutMs=10000`;
  try {
    const inRedis = await ofStorage(bench, count, storageOf(redis.url, null), null, () =>
      createRedisBlobStore({ url: redis.url }),
    );
    const split = await ofStorage(bench, count, storageOf(redis.url, s3, counter.endpoint), s3, () => {
      const pictures = openS3("pictures/");
      const records = createRedisBlobStore({ url: redis.url });
      return { records, originals: pictures, renditions: pictures };
    });
    const inS3 = await ofStorage(bench, count, everythingInS3, s3, () => openS3("everything/"));
    const rows = [...inRedis].map(([what, counts]) => [
      what,
      String(sum(counts.redis)),
      String(sum(split.get(what)?.redis ?? {})),
      describe(split.get(what)?.s3),
      describe(inS3.get(what)?.s3),
    ]);
    const titles = [
      "Request",
      "Commands, all in Redis",
      "Commands, records in Redis",
      "and S3, images",
      "S3, everything",
    ];
    return { table: formatColumns(titles, rows, new Set(titles.slice(1, 3))), split };
  } finally {
    await counter.close();
  }
}

/**
 * @param {Bench} bench
 * @param {Count} count
 * @param {ReturnType<typeof storageOf>} storage
 * @param {Parameters<typeof startNode>[2]} s3
 * @param {() => ImageStorage} openStorage The same storage, for the sweeper.
 * @returns {Promise<Map<string, Counts>>} By request.
 */
async function ofStorage(bench, count, storage, s3, openStorage) {
  const directory = bench.corpus.directory;
  const node = await startNode(directory, { ...CONFIG, storage }, s3);
  const other = await startNode(directory, { ...CONFIG, storage }, s3);
  const admin = createImageAdmin({ storage: openStorage() });
  try {
    const picture = await bench.corpus.ofBytes(PICTURE_BYTES);
    // Requests sent once per process: scripts are loaded, features of the service probed, clocks compared.
    await count(async () => {
      const first = await uploadTo(node, picture);
      for (const each of [node, other]) await ask(each, pathOf(first.id, "?resize=90x"));
      await ask(node, pathOf(first.id, "", "json"), { method: "DELETE", pin: first.pin, status: 204 });
    });

    /** @type {Map<string, Counts>} */
    const found = new Map();
    const row = async (/** @type {string} */ what, /** @type {() => Promise<unknown>} */ work) => {
      found.set(what, await count(work));
    };
    const { id, pin } = await uploadTo(node, picture);
    await row(REQUESTS.upload, () => uploadTo(node, picture));
    await row(REQUESTS.cold, () => ask(node, pathOf(id, "?resize=100x")));
    await row(REQUESTS.hot, () => ask(node, pathOf(id, "?resize=100x")));
    await row(REQUESTS.stored, () => ask(other, pathOf(id, "?resize=100x")));
    await row("original, first read of a node", () => ask(other, pathOf(id)));
    await row("record (`.json`)", () => ask(node, pathOf(id, "", "json")));
    await row("edit (PATCH)", () =>
      ask(node, pathOf(id, "", "json"), { method: "PATCH", pin, body: { name: "other" } }),
    );
    await row("DELETE, one rendition", () =>
      ask(node, pathOf(id, "", "json"), { method: "DELETE", pin, status: 204 }),
    );
    await row("read of a deleted image (410)", () => ask(other, pathOf(id), { status: 410 }));
    await row("sweep, nothing due", () => admin.sweep());
    const expiring = async () => {
      const { id } = await uploadTo(node, picture, new Date(Date.now() + LIFE_MS));
      await ask(node, pathOf(id, "?resize=100x"));
    };
    // The first sweep only opens the admin's own connection.
    for (let turn = 0; turn < 2; turn++) {
      await expiring();
      await new Promise((resolve) => setTimeout(resolve, LIFE_MS));
      await row(REQUESTS.swept, async () => {
        const { emptied, failed } = await admin.sweep();
        bench.checks.that("one image was swept", emptied === 1 && failed === 0);
      });
    }
    return found;
  } finally {
    await admin.close();
    await Promise.all([node.stop(), other.stop()]);
  }
}

const ORDER = ["PUT", "GET", "HEAD", "LIST", "DELETE", "POST"];

/** @param {Record<string, number> | undefined} counts */
function describe(counts = {}) {
  const parts = ORDER.filter((name) => counts[name] !== undefined).map((name) => `${counts[name]} ${name}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}
