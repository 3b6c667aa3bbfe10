import { measure, repeating } from "../src/measure.mjs";
import { startPostgresCounter } from "../src/postgres-counter.mjs";
import { commandsDuring, sum } from "../src/redis-monitor.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { renditionOf } from "./hot.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Contestant } from "../src/measure.mjs" */
/** @import { Line } from "../src/report.mjs" */
/** @import { ServerOptions } from "../servers/kinds.mjs" */

const CONNECTIONS = 10;
const COUNTED = 50;
const READ_LEASE_MS = 1000;
const SETTLE_MS = 500;

/** A rendition in memory whose record is in a remote store: each reply checks that the image may still be served. */
export async function backendsHot(/** @type {Bench} */ bench) {
  const local = await open(bench, {});
  /** @type {Line[]} */
  const lines = [];
  const redis = await bench.startRedis();
  // Records belong to one directory of pictures, which the services on them share.
  const directory = await bench.makeDirectory("redis");
  const inRedis = redis === null ? null : await open(bench, { directory, records: { redis: redis.url } });
  if (redis !== null && inRedis !== null) {
    const commands = await commandsDuring(redis, () => send(bench, inRedis.contestant));
    lines.push(await compareWith(bench, "Redis", sum(commands) / COUNTED, inRedis, local));
    lines.push(await compareLeased(bench, "Redis", { directory, records: { redis: redis.url } }, inRedis));
  }
  const postgres = await bench.startPostgres();
  if (postgres !== null) {
    const directory = await bench.makeDirectory("postgres");
    const stores = { directory, records: { postgres: postgres.url } };
    const remote = await open(bench, stores);
    const counter = await startPostgresCounter(postgres.url);
    const counted = await open(bench, { directory, records: { postgres: counter.url } });
    // Opens the connections, each with a statement of its own.
    await send(bench, counted.contestant);
    // One by one, as look-ups at the same time share statements.
    const statements = await counter.during(() => send(bench, counted.contestant, 1));
    await counted.contestant.server.stop();
    await counter.close();
    lines.push(await compareWith(bench, "PostgreSQL", statements / COUNTED, remote, local));
    lines.push(await compareLeased(bench, "PostgreSQL", stores, remote));
  }
  return lines;
}

/** @typedef {{ contestant: Contestant }} Hot */

/**
 * @param {Bench} bench
 * @param {Pick<ServerOptions, "directory" | "records" | "readLeaseMs">} options
 * @returns {Promise<Hot>}
 */
async function open(bench, options) {
  const server = await bench.start("outrigger-express", options);
  const { path, answer } = await renditionOf(bench, server);
  await bench.checks.bytes(server, path, answer.body);
  // The rendition is stored after its first reply.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return { contestant: repeating(server, { path, status: 200, length: answer.body.length }) };
}

/**
 * @param {Bench} bench
 * @param {string} title
 * @param {Pick<ServerOptions, "directory" | "records">} stores
 * @param {Hot} asking
 */
async function compareLeased(bench, title, stores, asking) {
  const leased = await open(bench, { ...stores, readLeaseMs: READ_LEASE_MS });
  const contestants = { leased: leased.contestant, asking: asking.contestant };
  const samples = await measure(bench, contestants, { connections: CONNECTIONS });
  return compare({
    what: `Hot rendition, 20 KB, Express 5, record in ${title}, read leases of 1 s: CPU`,
    peer: "a look-up per request",
    ours: samples.leased,
    theirs: samples.asking,
    format: formatMicros,
    aim: { atMost: 0.67 },
  });
}

/** @param {Bench} bench @param {Contestant} contestant */
function send(bench, { server, requests }, connections = 4) {
  return bench.load.run({ port: server.port, requests: requests(COUNTED), count: COUNTED, connections });
}

/**
 * @param {Bench} bench
 * @param {string} title
 * @param {number} lookUps
 * @param {Hot} remote
 * @param {Hot} local
 */
async function compareWith(bench, title, lookUps, remote, local) {
  bench.checks.that(`${lookUps} requests at ${title} for a hot reply`, lookUps === 1);
  const samples = await measure(
    bench,
    { remote: remote.contestant, local: local.contestant },
    { connections: CONNECTIONS },
  );
  return compare({
    what: `Hot rendition, 20 KB, Express 5, record in ${title}: CPU, 1 look-up`,
    peer: "record in a directory",
    ours: samples.remote,
    theirs: samples.local,
    format: formatMicros,
    aim: { atMost: title === "Redis" ? 1.5 : 2 },
  });
}
