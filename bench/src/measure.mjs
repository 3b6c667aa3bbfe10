/** @import { Bench } from "./bench.mjs" */
/** @import { JobRequest } from "./load.mjs" */
/** @import { ServerProcess } from "./server-process.mjs" */

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
 * @property {number} [turnRequests] Requests of each turn. Absent: as many as use the CPU that the settings say.
 * @property {number} [warmUpRequests] The same for the warm-up.
 * @property {number} [warmUpFactor] Multiple of the settings' warm-up. Default: 1.
 * @property {number} [settleMs] Work within this time after the replies counts. Default: 0.
 */

const PROBE_REQUESTS = 20;
const MEMORY_EVERY_MS = 30;

/**
 * Lets the contestants take turns, in an order that changes from round to round.
 * @template {string} Name
 * @param {Bench} bench
 * @param {Record<Name, Contestant>} contestants
 * @param {MeasureOptions} options
 * @returns {Promise<Record<Name, number[]>>} Microseconds of CPU per request, by round.
 */
export async function measure(bench, contestants, options) {
  const { settings } = bench;
  const names = /** @type {Name[]} */ (Object.keys(contestants)); // The record's own keys.
  const samples = /** @type {Record<Name, number[]>} */ ({}); // Filled for every name at once.
  const counts = /** @type {Record<Name, number>} */ ({}); // The same.
  for (const name of names) {
    samples[name] = [];
    const cost = await warmUp(bench, contestants[name], options);
    counts[name] =
      options.turnRequests ?? Math.max(PROBE_REQUESTS, Math.ceil((settings.roundCpuMs * 1000) / cost));
  }
  for (let round = 0; round < settings.rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      samples[name].push(await turn(bench, contestants[name], counts[name], options));
    }
  }
  return samples;
}

/**
 * @param {Bench} bench
 * @param {Contestant} contestant
 * @param {number} count
 * @param {MeasureOptions} options
 * @returns {Promise<number>} Microseconds of CPU per request.
 */
export async function turn(bench, { server, requests }, count, { connections, settleMs = 0 }) {
  const before = await server.cpuMicros();
  await bench.load.run({ port: server.port, requests: requests(count), count, connections });
  if (settleMs > 0) await new Promise((resolve) => setTimeout(resolve, settleMs));
  return ((await server.cpuMicros()) - before) / count;
}

/**
 * @param {Bench} bench
 * @param {Contestant} contestant
 * @param {MeasureOptions} options
 * @returns {Promise<number>} The CPU of a request in the last turn, in microseconds, at least 1.
 */
async function warmUp(bench, contestant, options) {
  const { warmUpCpuMs, mode } = bench.settings;
  if (options.turnRequests !== undefined) {
    const count = options.warmUpRequests ?? options.turnRequests;
    return Math.max(1, await turn(bench, contestant, count, options));
  }
  const neededMs = warmUpCpuMs * (options.warmUpFactor ?? 1);
  let count = PROBE_REQUESTS;
  let usedMs = 0;
  for (;;) {
    const cost = Math.max(1, await turn(bench, contestant, count, options));
    usedMs += (cost * count) / 1000;
    if (mode === "smoke" || usedMs >= neededMs) return cost;
    count = Math.ceil(Math.min(count * 10, Math.max(PROBE_REQUESTS, (neededMs * 1000) / 2 / cost)));
  }
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
