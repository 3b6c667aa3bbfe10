import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { compare, formatMegabytes } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Line } from "../src/report.mjs" */
/** @import { KeeperKind, StoreOptions } from "../stores/kinds.mjs" */

const ROUNDS = { full: 5, quick: 3, smoke: 1 };
const SIZES = {
  full: { small: 20_000_000, large: 200_000_000 },
  quick: { small: 20_000_000, large: 200_000_000 },
  smoke: { small: 2_000_000, large: 20_000_000 },
};
/** A process alone takes about 100 MB; this is a variation of 30 MB. */
const AIM = { atMost: 1.3 };

/** The peak memory of a process that stores or reads one file by stream, small and large. */
export async function backendsMemory(/** @type {Bench} */ bench) {
  /** @type {Line[]} */
  const lines = [];
  const redis = await bench.startRedis();
  if (redis !== null) lines.push(...(await ofStore(bench, "Redis", "outrigger-redis", { url: redis.url })));
  const s3 = await bench.startS3();
  if (s3 !== null) {
    const { bucket, endpoint, credentials } = s3;
    lines.push(...(await ofStore(bench, "S3", "outrigger-s3", { bucket, endpoint, credentials })));
  }
  const directory = await mkdtemp(join(bench.corpus.directory, "memory-"));
  lines.push(...(await ofStore(bench, "a directory", "outrigger-directory", { directory })));
  return lines;
}

/**
 * @param {Bench} bench
 * @param {string} title
 * @param {KeeperKind} kind
 * @param {StoreOptions} options
 */
async function ofStore(bench, title, kind, options) {
  const { mode } = bench.settings;
  const sizes = SIZES[mode];
  /** @type {Record<"put" | "get", Record<"small" | "large", number[]>>} */
  const peaks = { put: { small: [], large: [] }, get: { small: [], large: [] } };
  for (let round = 0; round < ROUNDS[mode]; round++) {
    for (const size of /** @type {const} */ (["small", "large"])) {
      const task = { name: `memory-${round}-${size}`, bytes: sizes[size], count: 1, atOnce: 1 };
      const writer = await bench.startStore(kind, options);
      await writer.run({ ...task, work: "put" });
      peaks.put[size].push(writer.peakMemory());
      await writer.run({ ...task, work: "check" });
      bench.checks.that(`${kind} gives the file that it was given`, true);
      const reader = await bench.startStore(kind, options);
      await reader.run({ ...task, work: "get" });
      peaks.get[size].push(reader.peakMemory());
      await reader.run({ ...task, work: "remove" });
      await Promise.all([writer.stop(), reader.stop()]);
    }
  }
  const [small, large] = [sizes.small, sizes.large].map(formatMegabytes);
  return /** @type {const} */ (["put", "get"]).map((work) =>
    compare({
      what: `Peak memory, ${work.toUpperCase()} of ${large} by stream, ${title}`,
      peer: `of ${small}`,
      ours: peaks[work].large,
      theirs: peaks[work].small,
      format: formatMegabytes,
      aim: AIM,
    }),
  );
}
