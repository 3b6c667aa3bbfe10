import { addressOf, upload } from "../src/client.mjs";
import { compare } from "../src/report.mjs";
import { quantile } from "../src/statistics.mjs";
import { renditionOf } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const EVERY_MS = 5;
const COUNT = { full: 800, quick: 250, smoke: 20 };
const ROUNDS = { full: 3, quick: 2, smoke: 1 };
/** Connections for the small requests: enough that none waits for another reply. */
const CONNECTIONS = 400;
/** Renders requested at any moment: fewer than the queue holds, more than the workers run. */
const RENDERS = 48;
/** More renders than one round completes. */
const RENDERS_PER_ROUND = 300;
const FIRST_WIDTH = 500;
/** Clients that request renders: the queue of a single one is short. */
const CLIENTS = Array.from({ length: 24 }, (_, index) => `127.0.0.${index + 10}`);

/**
 * The latency of small requests while renders wait in the queue. Wall clock, so the noisiest row: the renders leave no
 * core idle.
 */
export async function latency(/** @type {Bench} */ bench) {
  const photo = await bench.corpus.photo();
  const ours = await bench.start("outrigger-express");
  const { path, answer } = await renditionOf(bench, ours);
  const id = await upload(ours, photo);
  await bench.checks.bytes(ours, path, answer.body);
  const rounds = ROUNDS[bench.settings.mode];
  const own = await quietAndBusy(bench, ours, rounds, path, (index) =>
    addressOf(id, `?resize=${FIRST_WIDTH + index}x`),
  );
  return [
    compare({
      what: `p99 of small hot reads while ${RENDERS} renders wait`,
      peer: "the same reads without load",
      ours: own.busy,
      theirs: own.quiet,
      format: (ms) => `${ms.toFixed(1)} ms`,
      aim: { atMost: 2.5 },
    }),
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {number} rounds
 * @param {string} path Of the small thing.
 * @param {(index: number) => string} pathOf Of a render that has not been asked for.
 * @returns {Promise<{ quiet: number[], busy: number[] }>} The 99th percentile in milliseconds, by round.
 */
async function quietAndBusy(bench, server, rounds, path, pathOf) {
  const { mode } = bench.settings;
  const renderer = bench.startLoad();
  const p99 = async (/** @type {number} */ count) => {
    const { latenciesMs } = await bench.load.run({
      port: server.port,
      requests: [{ path, status: 200 }],
      count,
      connections: CONNECTIONS,
      everyMs: EVERY_MS,
    });
    return quantile(latenciesMs, 0.99);
  };
  /** @type {number[]} */
  const quiet = [];
  /** @type {number[]} */
  const busy = [];
  let index = 0;
  await p99(COUNT[mode]);
  for (let round = 0; round < rounds; round++) {
    quiet.push(await p99(COUNT[mode]));
    const renders = renderer.start({
      port: server.port,
      requests: Array.from({ length: RENDERS_PER_ROUND }, () => ({ path: pathOf(index++), status: 200 })),
      connections: RENDERS,
      addresses: CLIENTS,
    });
    // When the first renders have been answered, the queue is full and the measurement can start.
    await new Promise((resolve) => setTimeout(resolve, 300));
    busy.push(await p99(COUNT[mode]));
    await renders.stop();
  }
  return { quiet, busy };
}
