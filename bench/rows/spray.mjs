import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { addressOf, upload } from "../src/client.mjs";
import { compare, formatMegabytes } from "../src/report.mjs";
import { quantile } from "../src/statistics.mjs";

/** @import { Bench } from "../src/bench.mjs" */

const SPRAYERS = { full: 10, quick: 10, smoke: 2 };
const SPRAY_MS = { full: 30_000, quick: 15_000, smoke: 500 };
const SOAK = { sprayers: 50, sprayMs: 300_000, readEveryMs: 4000 };
/** Rare enough that the reader takes less than one sprayer's share of the renderer. */
const READ_EVERY_MS = { full: 1000, quick: 1000, smoke: 100 };
const QUIET_READS = { full: 30, quick: 16, smoke: 2 };
/** Fewer than one client's queue may hold. */
const CONNECTIONS = 6;
const FIRST_WIDTH = 700;
/** The limit of one image's renditions in the store. */
const SHARE_OF_ORIGINAL = 10;
const LEAST_BYTES = 32 * 1024 ** 2;
const SIDES = { first: 200, count: 1800 };
/** By then all sprayers are active. */
const UNDER_WAY_MS = 1000;
/** The last renditions stored may exceed the limit until the next check. */
const SETTLE_MS = 2000;

/**
 * Clients that request one size of a photograph after the other, each of which needs a render. Meanwhile another client
 * occasionally requests a new size of its own photograph.
 */
export async function spray(/** @type {Bench} */ bench) {
  const { mode, isSoak } = bench.settings;
  const sprayers = isSoak ? SOAK.sprayers : SPRAYERS[mode];
  const sprayMs = isSoak ? SOAK.sprayMs : SPRAY_MS[mode];
  const everyMs = isSoak ? SOAK.readEveryMs : READ_EVERY_MS[mode];
  const directory = await bench.makeDirectory("spray");
  const server = await bench.start("outrigger-express", { directory, limits: true });
  const photo = await bench.corpus.photo();
  const photoId = await upload(server, photo);
  const otherId = await upload(server, photo);
  await bench.checks.resized(server, addressOf(otherId, `?resize=${FIRST_WIDTH - 1}x`), FIRST_WIDTH - 1);
  let width = FIRST_WIDTH;
  const nextRead = () => ({ path: addressOf(otherId, `?resize=${width++}x`), status: 200 });
  const readCold = {
    port: server.port,
    connections: CONNECTIONS,
    everyMs,
    addresses: ["127.0.0.2"],
  };
  const reads = (/** @type {number} */ count) => Array.from({ length: count }, nextRead);
  await bench.load.run({ ...readCold, requests: reads(QUIET_READS[mode]), count: QUIET_READS[mode] });
  const quiet = await bench.load.run({
    ...readCold,
    requests: reads(QUIET_READS[mode]),
    count: QUIET_READS[mode],
  });

  const spraying = bench.startLoad().start({
    port: server.port,
    requests: Array.from({ length: SIDES.count }, (_, index) => ({
      path: addressOf(photoId, `?resize=${SIDES.first + ((index * 701) % SIDES.count)}x`),
      // Clients over their share get a refusal.
      status: [200, 429],
    })),
    connections: sprayers,
    addresses: Array.from({ length: sprayers }, (_, index) => `127.0.1.${index + 1}`),
  });
  await new Promise((resolve) => setTimeout(resolve, mode === "smoke" ? 0 : UNDER_WAY_MS));
  const count = Math.floor(sprayMs / everyMs);
  const busy = await bench.load.run({ ...readCold, requests: reads(count), count });
  await spraying.stop();
  await new Promise((resolve) => setTimeout(resolve, mode === "smoke" ? 0 : SETTLE_MS));
  const storedBytes = await renditionBytes(directory, photoId);
  await server.stop();
  const what = `${sprayers} clients that spray sizes for ${sprayMs / 1000} s`;
  return [
    compare({
      what: `${what}: p99 of another client's cold renditions`,
      peer: "the same without load",
      ours: [quantile(busy.latenciesMs, 0.99)],
      theirs: [quantile(quiet.latenciesMs, 0.99)],
      format: (ms) => `${ms.toFixed(1)} ms`,
      aim: { atMost: 3.5 },
    }),
    compare({
      what: `${what}: stored renditions`,
      peer: "what one image may have",
      ours: [storedBytes],
      theirs: [Math.max(LEAST_BYTES, SHARE_OF_ORIGINAL * photo.bytes.length)],
      format: formatMegabytes,
      aim: { atMost: 1 },
    }),
  ];
}

/**
 * Bytes of all renditions of an image in a data directory.
 * @param {string} directory
 * @param {string} id
 */
async function renditionBytes(directory, id) {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const file of files) {
    const path = join(file.parentPath ?? file.path, file.name);
    if (file.isFile() && path.includes(`/${id}/renditions/`)) bytes += (await stat(path)).size;
  }
  return bytes;
}
