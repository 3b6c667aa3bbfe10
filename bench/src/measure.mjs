/** @import { Bench } from "./bench.mjs" */
/** @import { JobRequest } from "./load.mjs" */
/** @import { ServerProcess } from "./server-process.mjs" */
/** @import { Mode } from "./settings.mjs" */

/**
 * One of the servers compared with each other.
 * @typedef {object} Contestant
 * @property {ServerProcess} server
 * @property {(count: number) => JobRequest[]} requests What to send when `count` requests are due: as many, or fewer that
 *   are repeated in turn.
 */

/**
 * @typedef {object} MeasureOptions
 * @property {number} connections
 * @property {Record<Mode, number>} turns Requests of each turn.
 * @property {number} [warmUpTurns] Turns before the measurement. Default: 2.
 * @property {number} [settleMs] Work within this time after the replies counts. Default: 0.
 */

const MEMORY_EVERY_MS = 30;

/**
 * Lets the contestants take turns, in an order that changes from round to round.
 * @template {string} Name
 * @param {Bench} bench
 * @param {Record<Name, Contestant>} contestants
 * @param {MeasureOptions} options
 * @returns {Promise<Record<Name, number[]>>} Microseconds of CPU per request, by round.
 */
export async function measure({ settings, load }, contestants, options) {
  const { connections, turns, warmUpTurns = 2, settleMs = 0 } = options;
  const count = turns[settings.mode];
  const turn = async (/** @type {Contestant} */ { server, requests }) => {
    const before = await server.cpuMicros();
    await load.run({ port: server.port, requests: requests(count), count, connections });
    if (settleMs > 0) await new Promise((resolve) => setTimeout(resolve, settleMs));
    return ((await server.cpuMicros()) - before) / count;
  };
  const names = /** @type {Name[]} */ (Object.keys(contestants)); // The record's own keys.
  const samples = /** @type {Record<Name, number[]>} */ ({}); // Filled for every name at once.
  for (const name of names) {
    samples[name] = [];
    for (let warmUp = 0; warmUp < warmUpTurns; warmUp++) await turn(contestants[name]);
  }
  for (let round = 0; round < settings.rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      samples[name].push(await turn(contestants[name]));
    }
  }
  return samples;
}

/**
 * The same request, repeated.
 * @param {ServerProcess} server
 * @param {JobRequest} request
 * @returns {Contestant}
 */
export function repeating(server, request) {
  return { server, requests: () => [request] };
}

/**
 * The peak memory of all processes of a server together.
 * @param {ServerProcess} server
 */
export function watchMemory(server) {
  let peakBytes = 0;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const look = () => {
    peakBytes = Math.max(peakBytes, server.residentMemory());
    // Each look reads all of /proc: requests of this process have their turn between two.
    timer = setTimeout(look, MEMORY_EVERY_MS);
  };
  look();
  return {
    stop() {
      clearTimeout(timer);
      return Math.max(peakBytes, server.residentMemory());
    },
  };
}
