/** The client, in a process of its own, so that its CPU time is not counted as the server's. */
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { finished } from "node:stream/promises";
import { exchange } from "./client.mjs";

/** @import { IncomingMessage } from "node:http" */
/** @import { Job, JobResult, Pace } from "./load.mjs" */

/** @type {Map<string, Buffer>} */
const files = new Map();
/** @type {Set<number>} */
const stopped = new Set();

process.on("message", (/** @type {{ id: number, job?: Job, stop?: true }} */ { id, job, stop }) => {
  if (stop) stopped.add(id);
  if (job === undefined) return;
  run(id, job).then(
    (result) => process.send?.({ id, result }),
    (error) => process.send?.({ id, error: String(error?.stack ?? error) }),
  );
});
process.on("disconnect", () => process.exit());

/**
 * @param {number} id
 * @param {Job} job
 * @returns {Promise<JobResult>}
 */
async function run(id, job) {
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
    const answer = await exchange(`http://127.0.0.1:${job.port}${path}`, options, (response) =>
      drain(response, job.pace),
    );
    latenciesMs.push(performance.now() - began);
    if (![status].flat().includes(answer.status) || (length !== undefined && answer.length !== length)) {
      throw new Error(`${path}: ${answer.status}, ${answer.length} bytes, not ${status}, ${length} bytes`);
    }
  };
  const isOver = () => sent >= job.count || stopped.has(id);
  try {
    if (job.everyMs === undefined) {
      const inTurn = async (/** @type {number} */ client) => {
        while (!isOver()) await send(client);
      };
      await Promise.all(Array.from({ length: connections }, (_, client) => inTurn(client)));
    } else {
      await paced(job.everyMs, isOver, send);
    }
  } finally {
    for (const agent of agents) agent.destroy();
    stopped.delete(id);
  }
  return { sent, latenciesMs };
}

/**
 * Sends a request every `everyMs`, whether or not earlier ones have been answered.
 * @param {number} everyMs
 * @param {() => boolean} isOver
 * @param {(client: number) => Promise<void>} send
 */
async function paced(everyMs, isOver, send) {
  /** @type {Promise<void>[]} */
  const pending = [];
  const began = performance.now();
  for (let index = 0; !isOver(); index++) {
    const waitMs = began + index * everyMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const sent = send(index);
    // Handled below.
    sent.catch(() => {});
    pending.push(sent);
  }
  await Promise.all(pending);
}

/**
 * Reads an answer to its end and counts its bytes.
 * @param {IncomingMessage} response
 * @param {Pace | undefined} pace
 */
async function drain(response, pace) {
  let length = 0;
  let allowance = pace?.bytes ?? Number.POSITIVE_INFINITY;
  response.on("data", (chunk) => {
    length += chunk.length;
    allowance -= chunk.length;
    if (allowance <= 0) response.pause();
  });
  const timer =
    pace &&
    setInterval(() => {
      allowance = pace.bytes;
      response.resume();
    }, pace.everyMs);
  try {
    await finished(response);
  } finally {
    clearInterval(timer);
  }
  return { status: response.statusCode ?? 0, length };
}

/** @param {string} path */
function readOnce(path) {
  const bytes = files.get(path) ?? readFileSync(path);
  files.set(path, bytes);
  return bytes;
}
