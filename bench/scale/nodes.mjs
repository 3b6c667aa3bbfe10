import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { childrenCpuMicros, ownCpuMicros } from "../src/process-tree.mjs";
import { formatMicros } from "../src/report.mjs";
import { median, quantile } from "../src/statistics.mjs";
import { formatColumns } from "../src/table.mjs";
import { startNode, storageOf } from "./node-process.mjs";
import { prepareRequests } from "./node-requests.mjs";

/** @import { PostgresServer } from "../../test/support/postgres-server.ts" */
/** @import { RedisServer } from "../../test/support/redis-server.ts" */
/** @import { Bench } from "../src/bench.mjs" */
/** @import { S3Bucket } from "../src/test-servers.mjs" */
/** @import { Node } from "./node-process.mjs" */
/** @import { Requests } from "./node-requests.mjs" */

const NODES = 3;
const ROUNDS = { full: 5, quick: 2, smoke: 1 };
/** Requests of a turn, and connections of the client: as many with one node as with three. */
const WORK = {
  hot: { title: "hot read, 20 KB", count: { full: 6000, quick: 1500, smoke: 30 }, connections: 12 },
  stored: {
    title: "read of 20 KB, not in a node's memory",
    count: { full: 2000, quick: 400, smoke: 30 },
    connections: 12,
  },
  cold: { title: "cold render, 12 MP → 700 px", count: { full: 36, quick: 12, smoke: 6 }, connections: 6 },
  upload: { title: "upload, 200 KB", count: { full: 90, quick: 30, smoke: 6 }, connections: 6 },
};

/** @typedef {keyof typeof WORK} Work */
/** @typedef {{ perSecond: number, p50: number, p99: number, nodeMicros: number, serviceMicros: number }} Sample */

/** What holds the records. @typedef {{ url: string, cpuMicros: () => Promise<number> }} Service User and system time so far. */

/**
 * One node and three of the same, on one machine, by turns.
 * @param {Bench} bench
 * @returns {Promise<import("../scale.mjs").Measured | null>} `null` where Redis, PostgreSQL or Ceph is not installed.
 */
export async function measureNodes(bench) {
  const redis = await bench.startRedis({ appendOnly: true });
  const postgres = await bench.startPostgres();
  const s3 = await bench.startS3();
  if (redis === null || postgres === null || s3 === null) return null;
  const ofRedis = { url: redis.url, cpuMicros: () => cpuOfRedis(redis) };
  const inRedis = await ofStorage(bench, ofRedis, null);
  const split = await ofStorage(bench, ofRedis, s3);
  const inPostgres = await ofStorage(bench, await postgresService(postgres), s3);
  const rows = [
    ...rowsOf("all in Redis", inRedis),
    ...rowsOf("records in Redis, images in S3", split),
    ...rowsOf("records in PostgreSQL, images in S3", inPostgres),
  ];
  const titles = [
    ...["Storage", "What", "Nodes", "Per second", "Of one node", "p50", "p99"],
    ...["CPU of the nodes, each", "CPU of Redis or PostgreSQL, each"],
  ];
  return {
    table: formatColumns(titles, rows, new Set(titles.slice(2))),
    measured: { ...costsOf("redis-s3", split), ...costsOf("postgres-s3", inPostgres) },
  };
}

/** By work, and by how many nodes did it. @typedef {Record<Work, Map<number, Sample[]>>} Samples */

/**
 * @param {Bench} bench
 * @param {Service} service
 * @param {S3Bucket | null} s3
 * @returns {Promise<Samples>}
 */
async function ofStorage(bench, service, s3) {
  const { mode } = bench.settings;
  const config = {
    storage: storageOf(service.url, s3),
    // One very busy client, which waits for each answer.
    images: {
      rateLimits: /** @type {const} */ (false),
      renderBudget: /** @type {const} */ (false),
      asyncAfterMs: /** @type {const} */ (false),
    },
    // More connections would only compete for the same two cores.
    renderer: { workers: 1 },
  };
  const { directory } = bench.corpus;
  const start = (/** @type {object} */ images) =>
    startNode(directory, { ...config, images: { ...config.images, ...images } }, s3);
  const nodes = await Promise.all(Array.from({ length: NODES }, () => start({})));
  const forgetful = await start({ memoryBytes: 0 });
  try {
    const most = (2 * ROUNDS[mode] + 1) * WORK.cold.count[mode];
    const requests = await prepareRequests(bench, nodes, most);
    /** @type {Samples} */
    const samples = { hot: new Map(), stored: new Map(), cold: new Map(), upload: new Map() };
    for (const work of /** @type {Work[]} */ (Object.keys(WORK))) {
      const groups = work === "stored" ? [[forgetful]] : [nodes.slice(0, 1), nodes];
      // Not measured: code is compiled, scripts are loaded, render processes are started.
      await turn(bench, service, groups.at(-1) ?? [], work, requests);
      for (let round = 0; round < ROUNDS[mode]; round++) {
        for (const group of round % 2 === 0 ? groups : groups.toReversed()) {
          const sample = await turn(bench, service, group, work, requests);
          samples[work].set(group.length, [...(samples[work].get(group.length) ?? []), sample]);
        }
      }
    }
    return samples;
  } finally {
    await Promise.all([...nodes, forgetful].map((node) => node.stop()));
  }
}

/** @param {readonly Sample[]} samples @param {keyof Sample} key */
function middle(samples, key) {
  return median(samples.map((sample) => sample[key]));
}

/** @param {string} title @param {Samples} samples */
function rowsOf(title, samples) {
  return /** @type {Work[]} */ (Object.keys(WORK)).flatMap((work) =>
    [...samples[work]]
      .sort(([a], [b]) => a - b)
      .map(([count, of]) => {
        const perSecond = middle(of, "perSecond");
        const one = middle(samples[work].get(1) ?? [], "perSecond");
        const times = /** @type {const} */ (["p50", "p99", "nodeMicros", "serviceMicros"]);
        return [
          ...[title, WORK[work].title, String(count), perSecond.toFixed(perSecond < 100 ? 1 : 0)],
          `${(perSecond / one).toFixed(2)}×`,
          ...times.map((key) => formatMicros(middle(of, key))),
        ];
      }),
  );
}

/** The CPU of one request, on as many nodes as there are. @param {string} storage @param {Samples} samples */
function costsOf(storage, samples) {
  return Object.fromEntries(
    /** @type {Work[]} */ (Object.keys(WORK)).map((work) => {
      const most = samples[work].get(NODES) ?? samples[work].get(1) ?? [];
      const value = {
        node: Math.round(middle(most, "nodeMicros")),
        records: Math.round(middle(most, "serviceMicros")),
      };
      return [`cpu.${storage}.${work}`, { value, unit: "µs of CPU" }];
    }),
  );
}

/**
 * Sends requests to all nodes in equal shares at the same time.
 * @param {Bench} bench
 * @param {Service} service
 * @param {Node[]} nodes
 * @param {Work} work
 * @param {Requests} requests
 * @returns {Promise<Sample>}
 */
async function turn(bench, service, nodes, work, requests) {
  const { count, connections } = WORK[work];
  const total = count[bench.settings.mode];
  const shares = nodes.map(({ port }) => ({
    port,
    requests: requests[work](total / nodes.length),
    count: total / nodes.length,
    connections: connections / nodes.length,
    isTimed: true,
  }));
  const cpu = () => nodes.reduce((micros, node) => micros + node.cpuMicros(), 0);
  const [nodesBefore, serviceBefore] = [cpu(), await service.cpuMicros()];
  const began = performance.now();
  const results = await Promise.all(shares.map((share) => bench.load.run(share)));
  const seconds = (performance.now() - began) / 1000;
  const [nodesAfter, serviceAfter] = [cpu(), await service.cpuMicros()];
  // At the end of a turn every connection sends its last request, so there may be a few more than requested.
  const sent = results.reduce((sum, result) => sum + result.sent, 0);
  const micros = results.flatMap(({ latenciesMs }) => latenciesMs).map((ms) => ms * 1000);
  return {
    perSecond: sent / seconds,
    p50: quantile(micros, 0.5),
    p99: quantile(micros, 0.99),
    nodeMicros: (nodesAfter - nodesBefore) / sent,
    serviceMicros: (serviceAfter - serviceBefore) / sent,
  };
}

/** @param {PostgresServer} postgres @returns {Promise<Service>} */
async function postgresService(postgres) {
  const directory = await postgres.sql("SHOW data_directory");
  const pid = Number((await readFile(join(directory, "postmaster.pid"), "utf8")).split("\n")[0]);
  return { url: postgres.url, cpuMicros: async () => ownCpuMicros(pid) + childrenCpuMicros(pid) };
}

/** @param {RedisServer} redis */
async function cpuOfRedis(redis) {
  const text = await redis.cli("INFO", "cpu");
  const seconds = (/** @type {string} */ name) =>
    Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
  return (seconds("used_cpu_user") + seconds("used_cpu_sys")) * 1e6;
}
