import { addressOf, upload, uploadRequest } from "../src/client.mjs";
import { compare, formatMegabytes } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Job } from "../src/load.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const CLIENTS = { full: 32, quick: 32, smoke: 4 };
const ROUNDS = { full: 3, quick: 1, smoke: 1 };
const WATCH_MS = 20;
/** 10 MB per second and client: 20 MB take two seconds. */
const SLOW = { bytes: 256 * 1024, everyMs: 25 };

/** The peak memory for files of different sizes. Every round has its own servers. */
export async function memory(/** @type {Bench} */ bench) {
  const cases = {
    up1: () => uploading(bench, 1_000_000),
    up20: () => uploading(bench, 20_000_000),
    down20: () => downloading(bench, 20_000_000),
    stream20: () => streaming(bench, 20_000_000),
    multer20: () => uploadingByMulter(bench, 20_000_000),
  };
  /** @type {Record<keyof typeof cases, Peak[]>} */
  const peaks = { up1: [], up20: [], down20: [], stream20: [], multer20: [] };
  for (let round = 0; round < ROUNDS[bench.settings.mode]; round++) {
    for (const name of /** @type {(keyof typeof cases)[]} */ (Object.keys(cases))) {
      peaks[name].push(await cases[name]());
    }
  }
  const host = (/** @type {keyof typeof cases} */ name) => peaks[name].map((peak) => peak.host);
  const clients = CLIENTS[bench.settings.mode];
  const up = `Peak memory, ${clients} uploads of 20 MB at once`;
  const format = formatMegabytes;
  return [
    compare({
      what: up,
      peer: "of 1 MB",
      ours: host("up20"),
      theirs: host("up1"),
      format,
      aim: { atMost: 1.25 },
    }),
    compare({
      what: `${up}, with the render processes`,
      peer: "multer, with SHA-256 and a decode by `sharp` in the process",
      ours: peaks.up20.map((peak) => peak.host + peak.children),
      theirs: host("multer20"),
      format,
    }),
    compare({
      what: `Peak memory, ${clients} slow downloads of 20 MB at once`,
      peer: "bare Express handler, `fs.createReadStream`",
      ours: host("down20"),
      theirs: host("stream20"),
      format,
      aim: { atMost: 1 },
    }),
  ];
}

/** @typedef {{ host: number, children: number }} Peak Bytes. */

/**
 * @param {Bench} bench
 * @param {number} bytes
 */
async function uploading(bench, bytes) {
  const server = await bench.start("outrigger-express", { waits: true });
  const picture = await bench.corpus.ofBytes(bytes);
  bench.checks.that("an upload is answered with an ID", (await upload(server, picture)).length === 22);
  return peakWhile(bench, server, {
    port: server.port,
    requests: [uploadRequest(picture, "/img/api/images.json")],
  });
}

/**
 * @param {Bench} bench
 * @param {number} bytes
 */
async function uploadingByMulter(bench, bytes) {
  const server = await bench.start("express-multer-checked");
  const picture = await bench.corpus.ofBytes(bytes);
  return peakWhile(bench, server, {
    port: server.port,
    requests: [uploadRequest(picture, "/images")],
  });
}

/**
 * @param {Bench} bench
 * @param {number} bytes
 */
async function downloading(bench, bytes) {
  const picture = await bench.corpus.ofBytes(bytes);
  const directory = await bench.makeDirectory("downloads");
  const uploader = await bench.start("outrigger-express", { directory });
  const path = addressOf(await upload(uploader, picture));
  await uploader.stop();
  // Another process: what the upload needed is not of interest here.
  const server = await bench.start("outrigger-express", { directory });
  await bench.checks.bytes(server, path, picture.bytes);
  return peakWhile(bench, server, slowly(server, path, picture.bytes.length));
}

/**
 * @param {Bench} bench
 * @param {number} bytes
 */
async function streaming(bench, bytes) {
  const picture = await bench.corpus.ofBytes(bytes);
  const server = await bench.start("express-stream", { file: picture.file });
  await bench.checks.bytes(server, "/file.jpg", picture.bytes);
  return peakWhile(bench, server, slowly(server, "/file.jpg", picture.bytes.length));
}

/**
 * @param {ServerProcess} server
 * @param {string} path
 * @param {number} length
 * @returns {Omit<Job, "count" | "connections">}
 */
function slowly({ port }, path, length) {
  return {
    port,
    requests: [{ path, status: 200, length }],
    pace: SLOW,
  };
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {Omit<Job, "count" | "connections">} job What each client does.
 * @returns {Promise<Peak>}
 */
async function peakWhile(bench, server, job) {
  const clients = CLIENTS[bench.settings.mode];
  const peak = { host: 0, children: 0 };
  const look = () => {
    const now = server.peakMemory();
    peak.host = Math.max(peak.host, now.host);
    // Render processes come and go: those that run at the same time count together.
    peak.children = Math.max(peak.children, now.children);
  };
  const timer = setInterval(look, WATCH_MS);
  try {
    await bench.load.run({ ...job, count: clients, connections: clients });
    look();
  } finally {
    clearInterval(timer);
  }
  await server.stop();
  return peak;
}
