import { addressOf, upload } from "../src/client.mjs";
import { startLoad } from "../src/load.mjs";
import { compare, quantile } from "../src/report.mjs";
import { renditionOf } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */

const COUNT = { full: 800, quick: 250, smoke: 20 };
const ROUNDS = { full: 3, quick: 2, smoke: 1 };
/** Renders requested at any moment: fewer than the queue holds, more than the workers run. */
const RENDERS = 48;
/** More renders than one round completes. */
const RENDERS_PER_ROUND = 300;
/** Clients that request renders: the queue of a single one is short. */
const CLIENTS = Array.from({ length: 24 }, (_, index) => `127.0.0.${index + 10}`);

/**
 * The latency of small requests while renders wait in the queue. Wall clock, so the noisiest row: the renders leave no
 * core idle.
 */
export async function measureRow(/** @type {Bench} */ bench) {
  const { mode } = bench.settings;
  const ours = await bench.start("outrigger inExpress");
  const { path, answer } = await renditionOf(bench, ours);
  const id = await upload(ours, await bench.corpus.photo());
  await bench.checks.bytes(ours, path, answer.body);
  const renderer = startLoad();
  const p99 = async () => {
    const { latenciesMs } = await bench.load.run({
      port: ours.port,
      requests: [{ path, status: 200 }],
      count: COUNT[mode],
      // Enough that none waits for another reply.
      connections: 400,
      everyMs: 5,
    });
    return quantile(latenciesMs, 0.99);
  };
  /** @type {Record<"quiet" | "busy", number[]>} */
  const times = { quiet: [], busy: [] };
  let width = 500;
  await p99();
  for (let round = 0; round < ROUNDS[mode]; round++) {
    times.quiet.push(await p99());
    const renders = renderer.start({
      port: ours.port,
      requests: Array.from({ length: RENDERS_PER_ROUND }, () => ({
        path: addressOf(id, `?resize=${width++}x`),
        status: 200,
      })),
      connections: RENDERS,
      addresses: CLIENTS,
    });
    // When the first renders have been answered, the queue is full and the measurement can start.
    await new Promise((resolve) => setTimeout(resolve, 300));
    times.busy.push(await p99());
    await renders.stop();
  }
  renderer.close();
  return [
    compare({
      what: `p99 of small hot reads while ${RENDERS} renders wait`,
      peer: "the same reads without load",
      ours: times.busy,
      theirs: times.quiet,
      format: (ms) => `${ms.toFixed(1)} ms`,
      atMost: 2.5,
    }),
  ];
}
