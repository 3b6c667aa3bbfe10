/** The client, in a process of its own, so that its CPU time is not counted as the server's. */
import { readFileSync } from "node:fs";
import { openConnection } from "./http-connection.mjs";

/** @import { Job, JobRequest, JobResult } from "./load.mjs" */
/** @import { Connection } from "./http-connection.mjs" */

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
  const requests = job.requests.map((request) => ({ request, bytes: encode(request) }));
  const connections = await Promise.all(
    Array.from({ length: job.connections }, (_, index) => openConnection(job.port, optionsOf(job, index))),
  );
  /** @type {number[]} */
  const latenciesMs = [];
  let sent = 0;

  const exchange = async (/** @type {Connection} */ connection) => {
    const next = requests[sent++ % requests.length];
    if (next === undefined) throw new Error("A job without requests");
    const start = performance.now();
    const answer = await connection.send(next.bytes);
    if (job.everyMs !== undefined || job.isTimed === true) latenciesMs.push(performance.now() - start);
    const { path, status, length } = next.request;
    const isExpected = [status].flat().includes(answer.status);
    if (!isExpected || (length !== undefined && answer.length !== length)) {
      throw new Error(
        `${path} answered ${answer.status} with ${answer.length} bytes, not ${status} with ${length}`,
      );
    }
  };
  try {
    if (job.everyMs === undefined) {
      await Promise.all(
        connections.map(async (connection) => {
          while (sent < job.count && !stopped.has(id)) await exchange(connection);
        }),
      );
    } else {
      const isOver = (/** @type {number} */ count) => count >= job.count || stopped.has(id);
      const reopen = async () => {
        const connection = await openConnection(job.port, optionsOf(job, connections.length));
        connections.push(connection);
        return connection;
      };
      await paced({ everyMs: job.everyMs, isOver, connections, reopen }, exchange);
    }
  } finally {
    for (const connection of connections) connection.close();
    stopped.delete(id);
  }
  return { sent, latenciesMs };
}

/**
 * @param {Job} job
 * @param {number} index Of the connection.
 */
function optionsOf({ pace, addresses = [] }, index) {
  return { pace, localAddress: addresses[index % addresses.length] };
}

/**
 * @typedef {object} Pacing
 * @property {number} everyMs
 * @property {(count: number) => boolean} isOver Given how many have been sent.
 * @property {Connection[]} connections
 * @property {() => Promise<Connection>} reopen A replacement for a connection that the server has closed.
 */

/**
 * Sends a request every `everyMs`, whether or not earlier ones have been answered, as long as a connection is idle.
 * @param {Pacing} pacing
 * @param {(connection: Connection) => Promise<void>} exchange
 */
async function paced({ everyMs, isOver, connections, reopen }, exchange) {
  const idle = [...connections];
  /** @type {((connection: Connection) => void) | null} */
  let onIdle = null;
  const release = (/** @type {Connection} */ connection) => {
    const take = onIdle;
    onIdle = null;
    if (take === null) idle.push(connection);
    else take(connection);
  };
  /** @returns {Promise<Connection>} */
  const nextIdle = () =>
    new Promise((resolve) => {
      onIdle = resolve;
    });
  const send = async (/** @type {Connection} */ connection) => {
    let open = connection.isOpen() ? connection : await reopen();
    try {
      await exchange(open);
    } catch (error) {
      // Closed as idle at that very moment: not an answer.
      if (open.isOpen()) throw error;
      open = await reopen();
      await exchange(open);
    }
    release(open);
  };
  /** @type {Promise<void>[]} */
  const pending = [];
  const start = performance.now();
  for (let index = 0; !isOver(index); index++) {
    const waitMs = start + index * everyMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    // With this many requests unanswered the result is clear: the remaining requests may wait.
    const sent = send(idle.pop() ?? (await nextIdle()));
    // Handled below.
    sent.catch(() => {});
    pending.push(sent);
  }
  await Promise.all(pending);
}

/**
 * @param {JobRequest} request
 * @returns {Buffer[]}
 */
function encode({ method, path, headers, bodyFile }) {
  const body = bodyFile === undefined ? null : readOnce(bodyFile);
  const lines = [`${method ?? "GET"} ${path} HTTP/1.1`, "Host: 127.0.0.1", "User-Agent: OutriggerBench/1.0"];
  for (const [name, value] of Object.entries(headers ?? {})) lines.push(`${name}: ${value}`);
  if (body !== null) lines.push(`Content-Length: ${body.length}`);
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return body === null ? [head] : [head, body];
}

/** @param {string} path */
function readOnce(path) {
  const known = files.get(path);
  if (known !== undefined) return known;
  const bytes = readFileSync(path);
  files.set(path, bytes);
  return bytes;
}
