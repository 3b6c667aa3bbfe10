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
  const large = await bench.corpus.ofBytes(20_000_000);
  const small = await bench.corpus.ofBytes(1_000_000);
  const cases = {
    async up1() {
      const server = await bench.start("outrigger-express", { waits: true });
      return peakWhile(bench, server, { requests: [uploadRequest(small, "/img/api/images.json")] });
    },
    async up20() {
      const server = await bench.start("outrigger-express", { waits: true });
      return peakWhile(bench, server, { requests: [uploadRequest(large, "/img/api/images.json")] });
    },
    async multer20() {
      const server = await bench.start("express-multer-checked");
      return peakWhile(bench, server, { requests: [uploadRequest(large, "/images")] });
    },
    async down20() {
      const directory = await bench.makeDirectory("downloads");
      const uploader = await bench.start("outrigger-express", { directory });
      const path = addressOf(await upload(uploader, large));
      await uploader.stop();
      // Another process: what the upload needed is not of interest here.
      const server = await bench.start("outrigger-express", { directory });
      await bench.checks.bytes(server, path, large.bytes);
      return peakWhile(bench, server, slowly(path, large.bytes.length));
    },
    async stream20() {
      const server = await bench.start("express-stream", { file: large.file });
      await bench.checks.bytes(server, "/file.jpg", large.bytes);
      return peakWhile(bench, server, slowly("/file.jpg", large.bytes.length));
    },
  };
  const names = /** @type {(keyof typeof cases)[]} */ (Object.keys(cases)); // Its own keys.
  /** @type {Record<keyof typeof cases, Peak[]>} */
  const peaks = { up1: [], up20: [], down20: [], stream20: [], multer20: [] };
  for (let round = 0; round < ROUNDS[bench.settings.mode]; round++) {
    for (const name of names) peaks[name].push(await cases[name]());
  }
  const host = (/** @type {keyof typeof cases} */ name) => peaks[name].map((peak) => peak.host);
  const clients = CLIENTS[bench.settings.mode];
  const up = `Peak memory, ${clients} uploads of 20 MB at once`;
  const format = formatMegabytes;
  const [up1, up20] = [host("up1"), host("up20")];
  return [
    compare({ what: up, peer: "of 1 MB", ours: up20, theirs: up1, format, aim: { atMost: 1.25 } }),
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
/** @typedef {Omit<Job, "port" | "count" | "connections">} ClientJob What each client does. */

/** @param {string} path @param {number} length @returns {ClientJob} */
function slowly(path, length) {
  return { requests: [{ path, status: 200, length }], pace: SLOW };
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {ClientJob} job
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
    const { sent } = await bench.load.run({
      ...{ ...job, port: server.port },
      ...{ count: clients, connections: clients },
    });
    look();
    bench.checks.that(`${server.kind}: ${sent} of ${clients} transfers`, sent === clients);
  } finally {
    clearInterval(timer);
  }
  await server.stop();
  return peak;
}
