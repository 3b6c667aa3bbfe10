import { attack, createMissiles } from "../src/attack.mjs";
import { addressOf, upload } from "../src/client.mjs";
import { watchMemory } from "../src/measure.mjs";
import { compare, formatMegabytes } from "../src/report.mjs";
import { quantile } from "../src/statistics.mjs";
import { renditionOf } from "./hot.mjs";

/** @import { Missile } from "../src/attack.mjs" */
/** @import { Bench } from "../src/bench.mjs" */

const FILES = { full: 32, quick: 32, smoke: 6 };
const ROUNDS = { full: 3, quick: 1, smoke: 1 };
const HOT_EVERY_MS = 5;
const QUIET_READS = { full: 1000, quick: 400, smoke: 20 };
const COLD_EVERY_MS = 250;
/** Fewer than one client's queue may hold. */
const COLD_CONNECTIONS = 6;
/** The well-behaved client's own address. */
const ADDRESSES = ["127.0.0.2"];
/** Widths of cold renditions: enough for one round, each small. */
const WIDTHS = { first: 60, count: 340 };
/** Durations in smoke runs are short: beside other tests a small rendition may exceed its time. */
const RENDERER = { full: {}, quick: {}, smoke: { timeoutMs: 1000 } };
const COLD_STATUS = { full: [200], quick: [200], smoke: [200, 503] };
/** Connections of the well-behaved client: enough that no request waits for another reply. */
const CONNECTIONS = 400;
const MAX_MEMORY_BYTES = 1024 ** 3;

/**
 * Bombs of every type, all uploaded at the same moment; each accepted one is requested as a picture at once. Meanwhile
 * a well-behaved client reads a small picture, and requests new small renditions.
 */
export async function hostile(/** @type {Bench} */ bench) {
  const { mode } = bench.settings;
  const missiles = await createMissiles(bench.corpus.directory, FILES[mode]);
  /** @type {Round[]} */
  const rounds = [];
  for (let round = 0; round < ROUNDS[mode]; round++) rounds.push(await takeRound(bench, missiles));
  const what = `${missiles.length} hostile files at once`;
  const of = (/** @type {keyof Round} */ measure) => rounds.map((round) => round[measure]);
  return [
    compare({
      what: `${what}: peak memory, all processes`,
      peer: "a gibibyte",
      ours: of("peakBytes"),
      theirs: rounds.map(() => MAX_MEMORY_BYTES),
      format: formatMegabytes,
      aim: { below: 1 },
    }),
    compare({
      what: `${what}: p99 of small hot reads meanwhile`,
      peer: "the same reads without load",
      ours: of("busyHotMs"),
      theirs: of("quietHotMs"),
      format: (ms) => `${ms.toFixed(1)} ms`,
      aim: { atMost: 5 },
    }),
  ];
}

/**
 * @typedef {object} Round
 * @property {number} peakBytes
 * @property {number} quietHotMs The 99th percentile of hot reads.
 * @property {number} busyHotMs
 */

/**
 * One round, with a server of its own.
 * @param {Bench} bench
 * @param {readonly Missile[]} missiles
 * @returns {Promise<Round>}
 */
async function takeRound(bench, missiles) {
  const { mode } = bench.settings;
  const server = await bench.start("outrigger-express", { renderer: RENDERER[mode] });
  const { path: hotPath, answer } = await renditionOf(bench, server);
  const smallId = await upload(server, await bench.corpus.small());
  const hotReads = {
    port: server.port,
    requests: [{ path: hotPath, status: 200, length: answer.body.length }],
    connections: CONNECTIONS,
    everyMs: HOT_EVERY_MS,
    addresses: ADDRESSES,
  };
  const coldReads = {
    port: server.port,
    // In an order without a trend.
    requests: Array.from({ length: WIDTHS.count }, (_, index) => ({
      path: addressOf(smallId, `?resize=${WIDTHS.first + ((index * 101) % WIDTHS.count)}x`),
      status: COLD_STATUS[mode],
    })),
    connections: COLD_CONNECTIONS,
    everyMs: COLD_EVERY_MS,
    addresses: ADDRESSES,
  };
  // The first requests are slower: no code is compiled yet.
  await bench.load.run({ ...hotReads, count: QUIET_READS[mode] });
  const quietHot = await bench.load.run({ ...hotReads, count: QUIET_READS[mode] });

  const memory = watchMemory(server);
  const hot = bench.load.start(hotReads);
  const cold = bench.startLoad().start({ ...coldReads });
  const outcomes = await attack(server, missiles);
  const busyHot = await hot.stop();
  await cold.stop();
  const peakBytes = memory.stop();

  for (const { title, upload, picture } of outcomes) {
    bench.checks.that(`Upload of ${title}: ${upload}`, isOrderly(upload));
    bench.checks.that(`${title} as a PNG: ${picture}`, picture === null || isOrderly(picture));
  }
  await bench.checks.bytes(server, hotPath, answer.body);
  await server.stop();
  return {
    peakBytes,
    quietHotMs: quantile(quietHot.latenciesMs, 0.99),
    busyHotMs: quantile(busyHot.latenciesMs, 0.99),
  };
}

/**
 * Success, a refusal for the client's sake, or one that requests a retry later.
 * @param {number} status
 */
function isOrderly(status) {
  return (status >= 200 && status < 300) || (status >= 400 && status < 500) || status === 503;
}
