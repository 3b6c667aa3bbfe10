import { addressOf, upload } from "../src/client.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { startS3Counter } from "../src/s3-counter.mjs";
import { quantile } from "../src/statistics.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerOptions } from "../servers/kinds.mjs" */

const COUNT = { full: 40, quick: 20, smoke: 3 };
const COUNTED = 10;
/** A rendition is still being stored after the reply. */
const SETTLE_MS = 1000;
const EVERY_MS = 100;

/**
 * A picture of 200 KB resized, each time to a width not requested before, with records in Redis and pictures in S3: its wall time, and
 * its requests to S3.
 */
export async function coldRemote(/** @type {Bench} */ bench) {
  const redis = await bench.startRedis();
  // Records belong to one store of pictures.
  const redisOfLocal = await bench.startRedis();
  const s3 = await bench.startS3();
  if (redis === null || redisOfLocal === null || s3 === null) return [];
  const { bucket, credentials, endpoint, port } = s3;
  const records = { redis: redis.url };
  const counter = await startS3Counter(port);
  const counted = await resizing(bench, {
    records,
    pictures: { s3: { bucket, credentials, endpoint: counter.endpoint } },
  });
  const requests = await counter.during(() => counted.resize(COUNTED));
  await counted.server.stop();
  await counter.close();
  const isLeast = Object.keys(requests).length === 2 && requests.GET === COUNTED && requests.PUT === COUNTED;
  bench.checks.that(`${JSON.stringify(requests)} at S3 for ${COUNTED} cold renditions`, isLeast);

  const remote = await resizing(bench, { records, pictures: { s3: { bucket, credentials, endpoint } } });
  const local = await resizing(bench, { records: { redis: redisOfLocal.url } });
  /** @type {{ ours: number[], theirs: number[] }} */
  const times = { ours: [], theirs: [] };
  const { mode, rounds } = bench.settings;
  for (let round = 0; round < rounds; round++) {
    times.ours.push(await remote.resize(COUNT[mode]));
    times.theirs.push(await local.resize(COUNT[mode]));
  }
  const what = "JPEG of 200 KB resized, cold, records in Redis, pictures in S3: time, p50";
  return [compare({ what, peer: "pictures in a directory", ...times, format: formatMicros })];
}

/**
 * @param {Bench} bench
 * @param {ServerOptions} options
 */
async function resizing(bench, options) {
  const server = await bench.start("outrigger-express", options);
  const id = await upload(server, await bench.corpus.ofBytes(200_000));
  let width = 100;
  return {
    server,
    /** @param {number} count @returns {Promise<number>} The median time in microseconds. */
    async resize(count) {
      const requests = Array.from({ length: count }, () => ({
        path: addressOf(id, `?resize=${++width}x`),
        status: 200,
      }));
      const { latenciesMs } = await bench.load.run({
        port: server.port,
        requests,
        count,
        connections: 1,
        everyMs: EVERY_MS,
      });
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      return quantile(latenciesMs, 0.5) * 1000;
    },
  };
}
