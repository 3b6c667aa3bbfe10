import { createImageAdmin } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { createS3BlobStore } from "@outrigger/s3";
import { createSqlBlobStore } from "@outrigger/sql";
import { startPostgresCounter } from "../src/postgres-counter.mjs";
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
/** Requests that the model counts, as named in the table. */
const REQUESTS = /** @type {const} */ ({
  upload: "upload",
  cold: "cold rendition, rendered and stored",
  hot: "the same from memory",
  stored: "the same from the store (another node)",
  edited: "edit (PATCH)",
  removed: "DELETE, one rendition",
  swept: "sweep, one expired image with a rendition",
});
const CONFIG = {
  // Background work would be counted, too.
  images: { sweepEveryMs: /** @type {const} */ (false), asyncAfterMs: /** @type {const} */ (false) },
};

/** @typedef {{ commands: number, s3: Record<string, number> }} Counts `commands`: of Redis, or statements of PostgreSQL. */
/** @typedef {(work: () => Promise<unknown>) => Promise<Counts>} Count */

/**
 * The store requests caused by one request to `outrigger serve`, rate limits included.
 * @param {Bench} bench
 * @returns {Promise<import("../scale.mjs").Measured | null>} `null` where Redis, PostgreSQL or Ceph is not installed.
 */
export async function countRequests(bench) {
  const redis = await bench.startRedis();
  const postgres = await bench.startPostgres();
  const s3 = await bench.startS3();
  if (redis === null || postgres === null || s3 === null) return null;
  const statements = await startPostgresCounter(postgres.url);
  const counter = await startS3Counter(s3.port);
  /** @param {"redis" | "postgres"} of @returns {Count} */
  const countOf = (of) => async (work) => {
    /** @type {Record<string, number>} */
    let ofS3 = {};
    const inS3 = async () => {
      ofS3 = await counter.during(work);
    };
    const commands = of === "redis" ? sum(await commandsDuring(redis, inS3)) : await statements.during(inS3);
    return { commands, s3: ofS3 };
  };

  const { bucket, credentials } = s3;
  const openS3 = (/** @type {string} */ prefix) =>
    createS3BlobStore({ bucket, credentials, prefix, endpoint: counter.endpoint });
  const everythingInS3 = `s3://${bucket}/everything?endpoint=${counter.endpoint}&timeoutMs=10000`;
  const withPictures = (/** @type {import("@outrigger/core").BlobStore} */ records) => {
    const pictures = openS3("pictures/");
    return { records, originals: pictures, renditions: pictures };
  };
  const splitOf = (/** @type {string} */ url) => storageOf(url, s3, counter.endpoint);
  try {
    const [byRedis, byPostgres] = [countOf("redis"), countOf("postgres")];
    const all = {
      redis: await ofStorage(bench, byRedis, storageOf(redis.url, null), null, () =>
        createRedisBlobStore({ url: redis.url }),
      ),
      "redis-s3": await ofStorage(bench, byRedis, splitOf(redis.url), s3, () =>
        withPictures(createRedisBlobStore({ url: redis.url })),
      ),
      "postgres-s3": await ofStorage(bench, byPostgres, splitOf(statements.url), s3, () =>
        withPictures(createSqlBlobStore({ url: statements.url })),
      ),
      s3: await ofStorage(bench, byRedis, everythingInS3, s3, () => openS3("everything/")),
    };
    const rows = [...all.redis.keys()].map((what) => [
      what,
      String(all.redis.get(what)?.commands),
      String(all["redis-s3"].get(what)?.commands),
      String(all["postgres-s3"].get(what)?.commands),
      describe(all["redis-s3"].get(what)?.s3),
      describe(all.s3.get(what)?.s3),
    ]);
    const titles = [
      "Request",
      "Commands, all in Redis",
      "Commands, records in Redis",
      "Statements, records in PostgreSQL",
      "and S3, images",
      "S3, everything",
    ];
    const { redis: _, ...compared } = all;
    const measured = Object.entries(compared).flatMap(([storage, found]) =>
      Object.entries(REQUESTS).map(([kind, what]) => {
        const { commands = 0, s3 = {} } = found.get(what) ?? {};
        return [`requests.${storage}.${kind}`, { value: { commands, ...s3 }, unit: "requests" }];
      }),
    );
    return {
      table: formatColumns(titles, rows, new Set(titles.slice(1, 4))),
      measured: Object.fromEntries(measured),
    };
  } finally {
    await counter.close();
    await statements.close();
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
    await row(REQUESTS.edited, () =>
      ask(node, pathOf(id, "", "json"), { method: "PATCH", pin, body: { name: "other" } }),
    );
    await row(REQUESTS.removed, () =>
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
