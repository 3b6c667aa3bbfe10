import { uploadRequest } from "../src/client.mjs";
import { watchMemory } from "../src/measure.mjs";
import { compare, formatMegabytes } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { JobRequest } from "../src/load.mjs" */

const CLIENTS = { full: 32, quick: 32, smoke: 4 };
const ROUNDS = { full: 3, quick: 1, smoke: 1 };

/** The peak memory of uploads of different sizes. Every round has its own servers. */
export async function measureRow(/** @type {Bench} */ bench) {
  const { mode } = bench.settings;
  const large = await bench.corpus.ofBytes(20_000_000);
  const small = await bench.corpus.ofBytes(1_000_000);
  /** @type {Record<"small" | "large" | "multer", Peak[]>} */
  const peaks = { small: [], large: [], multer: [] };
  const ours = "outrigger inExpress";
  for (let round = 0; round < ROUNDS[mode]; round++) {
    peaks.small.push(await peakOf(bench, ours, uploadRequest(small, "/img/api/images.json")));
    peaks.large.push(await peakOf(bench, ours, uploadRequest(large, "/img/api/images.json")));
    peaks.multer.push(await peakOf(bench, "uploaders checkedMulter", uploadRequest(large, "/images")));
  }
  const what = `Peak memory, ${CLIENTS[mode]} uploads of 20 MB at once`;
  const of = (/** @type {keyof typeof peaks} */ name, /** @type {keyof Peak} */ part) =>
    peaks[name].map((peak) => peak[part]);
  return [
    compare({
      what,
      ours: of("large", "host"),
      peer: "of 1 MB",
      theirs: of("small", "host"),
      format: formatMegabytes,
      atMost: 1.25,
    }),
    compare({
      what: `${what}, with the render processes`,
      ours: of("large", "all"),
      peer: "multer, with SHA-256 and a decode by `sharp` in the process",
      theirs: of("multer", "host"),
      format: formatMegabytes,
    }),
  ];
}

/** @typedef {{ host: number, all: number }} Peak Bytes of the server's own process, and of all its processes. */

/**
 * @param {Bench} bench
 * @param {string} kind
 * @param {JobRequest} request
 * @returns {Promise<Peak>}
 */
async function peakOf(bench, kind, request) {
  const clients = CLIENTS[bench.settings.mode];
  const server = await bench.start(kind, { waits: true });
  const watch = watchMemory(server);
  const { sent } = await bench.load.run({
    ...{ port: server.port, requests: [request] },
    ...{ count: clients, connections: clients },
  });
  const peak = { host: server.peakMemory(), all: watch.stop() };
  bench.checks.that(`${kind}: ${sent} of ${clients} transfers`, sent === clients);
  await server.stop();
  return peak;
}
