/** The client, in a process of its own, so that its CPU time is not counted as the server's. */
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { buffer } from "node:stream/consumers";
import { exchange } from "./client.mjs";

/** @import { Job, JobResult } from "./load.mjs" */

/** @type {Map<string, Buffer>} */
const files = new Map();
let isStopped = false;

process.on("message", (/** @type {{ job?: Job }} */ { job }) => {
  isStopped = job === undefined;
  if (job === undefined) return;
  run(job).then(
    (result) => process.send?.({ result }),
    (error) => process.send?.({ error: String(error?.stack ?? error) }),
  );
});
process.on("disconnect", () => process.exit());

/** @param {Job} job @returns {Promise<JobResult>} */
async function run(job) {
  const { addresses = ["127.0.0.1"], connections } = job;
  const maxSockets = Math.ceil(connections / addresses.length);
  const agents = addresses.map((localAddress) => new Agent({ keepAlive: true, maxSockets, localAddress }));
  /** @type {number[]} */
  const latenciesMs = [];
  let sent = 0;
  const send = async (/** @type {number} */ client) => {
    const next = job.requests[sent++ % job.requests.length];
    if (next === undefined) throw new Error("A job without requests");
    const { method = "GET", path, headers = {}, bodyFile, status, length } = next;
    const body = bodyFile === undefined ? undefined : readOnce(bodyFile);
    const agent = agents[client % agents.length];
    const began = performance.now();
    const options = {
      ...{ method, agent, body },
      headers: body === undefined ? headers : { ...headers, "Content-Length": body.length },
    };
    const answer = await exchange(`http://127.0.0.1:${job.port}${path}`, options, async (response) => ({
      status: response.statusCode ?? 0,
      length: (await buffer(response)).length,
    }));
    latenciesMs.push(performance.now() - began);
    if (![status].flat().includes(answer.status) || (length !== undefined && answer.length !== length)) {
      throw new Error(`${path}: ${answer.status}, ${answer.length} bytes, not ${status}, ${length} bytes`);
    }
  };
  const isOver = () => sent >= job.count || isStopped;
  try {
    const { everyMs } = job;
    if (everyMs === undefined) {
      const inTurn = async (/** @type {number} */ client) => {
        while (!isOver()) await send(client);
      };
      await Promise.all(Array.from({ length: connections }, (_, client) => inTurn(client)));
    } else {
      await paced({ ...job, everyMs }, isOver, send);
    }
  } finally {
    for (const agent of agents) agent.destroy();
  }
  return { sent, latenciesMs };
}

/**
 * Sends a request every `everyMs`, whether or not earlier ones have been answered, with at most `connections` unanswered: a client
 * that never waits would ask a slow machine for more and more.
 * @param {Job & { everyMs: number }} job
 * @param {() => boolean} isOver
 * @param {(client: number) => Promise<void>} send
 */
async function paced({ everyMs, connections }, isOver, send) {
  /** @type {Set<Promise<void>>} */
  const open = new Set();
  const began = performance.now();
  for (let index = 0; !isOver(); index++) {
    const waitMs = began + index * everyMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const sent = send(index).then(() => void open.delete(sent));
    // Handled below.
    sent.catch(() => {});
    open.add(sent);
    if (open.size >= connections) await Promise.race(open);
  }
  await Promise.all(open);
}

/** @param {string} path */
function readOnce(path) {
  const bytes = files.get(path) ?? readFileSync(path);
  files.set(path, bytes);
  return bytes;
}
