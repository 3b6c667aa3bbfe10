import { attack, hostileFiles } from "../src/attack.mjs";
import { watchMemory } from "../src/measure.mjs";
import { compare, formatMegabytes, quantile } from "../src/report.mjs";
import { renditionOf } from "./hot.mjs";

/** @import { Bomb } from "../../test/hostile/bomb.ts" */
/** @import { Bench } from "../src/bench.mjs" */

const FILES = { full: 32, quick: 32, smoke: 6 };
const ROUNDS = { full: 3, quick: 1, smoke: 1 };
const QUIET_READS = { full: 1000, quick: 400, smoke: 20 };
const MAX_MEMORY_BYTES = 1024 ** 3;

/**
 * Bombs of every type, all uploaded at the same moment; each accepted one is requested as a picture at once. Meanwhile
 * a well-behaved client reads a small picture.
 */
export async function measureRow(/** @type {Bench} */ bench) {
  const { mode } = bench.settings;
  const bombs = await hostileFiles(FILES[mode]);
  /** @type {Round[]} */
  const rounds = [];
  for (let round = 0; round < ROUNDS[mode]; round++) rounds.push(await takeRound(bench, bombs));
  const what = `${bombs.length} hostile files at once`;
  const of = (/** @type {keyof Round} */ measure) => rounds.map((round) => round[measure]);
  return [
    compare({
      what: `${what}: peak memory, all processes`,
      peer: "a gibibyte",
      ours: of("peakBytes"),
      theirs: rounds.map(() => MAX_MEMORY_BYTES),
      format: formatMegabytes,
      atMost: 1,
    }),
    compare({
      what: `${what}: p99 of small hot reads meanwhile`,
      peer: "the same reads without load",
      ours: of("busyMs"),
      theirs: of("quietMs"),
      format: (ms) => `${ms.toFixed(1)} ms`,
      atMost: 5,
    }),
  ];
}

/** @typedef {{ peakBytes: number, quietMs: number, busyMs: number }} Round With the 99th percentiles of hot reads. */

/**
 * One round, with a server of its own.
 * @param {Bench} bench
 * @param {readonly Bomb[]} bombs
 * @returns {Promise<Round>}
 */
async function takeRound(bench, bombs) {
  const { mode } = bench.settings;
  const server = await bench.start("outrigger inExpress");
  const { path, answer } = await renditionOf(bench, server);
  const reads = {
    port: server.port,
    requests: [{ path, status: 200, length: answer.body.length }],
    // Enough that no request waits for another reply.
    connections: 400,
    everyMs: 5,
    // The well-behaved client has an address of its own.
    addresses: ["127.0.0.2"],
  };
  // The first requests are slower: no code is compiled yet.
  await bench.load.run({ ...reads, count: QUIET_READS[mode] });
  const quiet = await bench.load.run({ ...reads, count: QUIET_READS[mode] });

  const memory = watchMemory(server);
  const reading = bench.load.start(reads);
  const outcomes = await attack(server, bombs);
  const busy = await reading.stop();
  const peakBytes = memory.stop();

  for (const { title, upload, picture } of outcomes) {
    bench.checks.that(`Upload of ${title}: ${upload}`, isOrderly(upload));
    bench.checks.that(`${title} as a PNG: ${picture}`, picture === null || isOrderly(picture));
  }
  await bench.checks.bytes(server, path, answer.body);
  await server.stop();
  return { peakBytes, quietMs: quantile(quiet.latenciesMs, 0.99), busyMs: quantile(busy.latenciesMs, 0.99) };
}

/**
 * Success, a refusal for the client's sake, or one that requests a retry later.
 * @param {number} status
 */
function isOrderly(status) {
  return (status >= 200 && status < 300) || (status >= 400 && status < 500) || status === 503;
}
