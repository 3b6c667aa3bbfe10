import { commandsDuring, sum } from "../src/redis-monitor.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { startS3Counter } from "../src/s3-counter.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Line } from "../src/report.mjs" */
/** @import { StoreProcess } from "../src/store-process.mjs" */
/** @import { KeeperKind } from "../stores/kinds.mjs" */

/**
 * A storage service, and the clients compared on it.
 * @typedef {object} Backend
 * @property {string} title
 * @property {Record<"ours" | "raw", StoreProcess> & { lengths?: StoreProcess }} users `lengths`: knows stream lengths.
 * @property {string} peer Name of `raw`.
 * @property {(user: "ours" | "raw", work: (same: StoreProcess) => Promise<unknown>) => Promise<number | null>} count The
 *   number of requests that reach the service while a process of the same kind works; `null`: not countable.
 * @property {boolean} [isFast] Whether an accurate measurement needs more turns.
 * @property {() => Promise<unknown>} [close]
 * @property {{ atMost: number }} [aim]
 */

/** Small files are sent as a Buffer, the others as a stream. `turns`: for a fast service, and for a slow one. */
const SIZES = /** @type {const} */ ([
  {
    title: "20 KB",
    bytes: 20_000,
    atOnce: 10,
    turns: { full: [5000, 600], quick: [2000, 200], smoke: [4, 4] },
  },
  { title: "1 MB", bytes: 1_000_000, atOnce: 4, turns: { full: [150, 40], quick: [60, 15], smoke: [2, 2] } },
  { title: "20 MB", bytes: 20_000_000, atOnce: 1, turns: { full: [10, 4], quick: [5, 3], smoke: [1, 1] } },
]);
const AIM = { atMost: 1.25 };
/** Size of a file in smoke runs; larger than clients keep in memory. */
const SMOKE_BYTES = 9_000_000;
/** Turns before the measurement. */
const WARM_UP = { full: 3, quick: 2, smoke: 0 };

/**
 * CPU of the process that stores and reads, through the store and through the client that it is made of, in the same
 * run.
 */
export async function backends(/** @type {Bench} */ bench) {
  /** @type {Line[]} */
  const lines = [];
  for (const open of [openRedis, openS3, openDirectory]) {
    const backend = await open(bench);
    if (backend === null) continue;
    for (const size of SIZES) {
      lines.push(...(await compareWork(bench, backend, size, "put")));
      lines.push(...(await compareWork(bench, backend, size, "get")));
    }
    for (const store of Object.values(backend.users)) await store.stop();
    await backend.close?.();
  }
  return lines;
}

/** @param {Bench} bench @returns {Promise<Backend | null>} */
async function openRedis(bench) {
  const server = await bench.startRedis();
  if (server === null) return null;
  const { url } = server;
  const users = {
    ours: await bench.startStore("outrigger-redis", { url }),
    raw: await bench.startStore("redis-client", { url }),
  };
  return {
    title: "Redis",
    users,
    peer: "`@redis/client`",
    count: async (user, work) => sum(await commandsDuring(server, () => work(users[user]))),
    isFast: true,
    aim: AIM,
  };
}

/** @param {Bench} bench @returns {Promise<Backend | null>} */
async function openS3(bench) {
  const server = await bench.startS3();
  if (server === null) return null;
  const { bucket, credentials, endpoint, port } = server;
  const counter = await startS3Counter(port);
  const start = (/** @type {KeeperKind} */ kind, /** @type {string} */ at) =>
    bench.startStore(kind, { bucket, credentials, endpoint: at });
  const counted = {
    ours: await start("outrigger-s3", counter.endpoint),
    raw: await start("s3-client", counter.endpoint),
  };
  // The first conditional write probes the service's features.
  const first = { name: "first", bytes: 1, count: 1, atOnce: 1 };
  for (const work of /** @type {const} */ (["put", "remove"])) await counted.ours.run({ ...first, work });
  return {
    title: "S3",
    users: {
      ours: await start("outrigger-s3", endpoint),
      raw: await start("s3-client", endpoint),
      lengths: await start("s3-client-lengths", endpoint),
    },
    peer: "`@aws-sdk/client-s3`",
    count: async (user, work) => sum(await counter.during(() => work(counted[user]))),
    async close() {
      for (const store of Object.values(counted)) await store.stop();
      await counter.close();
    },
    aim: AIM,
  };
}

/** @param {Bench} bench @returns {Promise<Backend>} */
async function openDirectory(bench) {
  return {
    title: "a directory",
    users: { ours: await bench.startStore("outrigger-directory"), raw: await bench.startStore("files") },
    peer: "`node:fs`, synced",
    count: async () => null,
  };
}

/**
 * @param {Bench} bench
 * @param {Backend} backend
 * @param {typeof SIZES[number]} size
 * @param {"put" | "get"} work In this order.
 */
async function compareWork(bench, backend, size, work) {
  const { title, users, peer, count: countRequests, isFast = false, aim } = backend;
  const { rounds, mode } = bench.settings;
  const { atOnce } = size;
  const bytes = mode === "smoke" ? Math.min(size.bytes, SMOKE_BYTES) : size.bytes;
  // Files that are read need not be removed.
  const count = size.turns[mode][isFast ? 0 : 1] * (work === "get" ? 4 : 1);
  const turn = async (/** @type {StoreProcess} */ store) => {
    const name = work === "get" ? nameOf(store) : `put-${nameOf(store)}`;
    const { cpuMicros } = await store.run({ work, name, bytes, count, atOnce });
    if (work === "put") await store.run({ work: "remove", name, bytes, count, atOnce });
    return cpuMicros / count;
  };
  const nameOf = (/** @type {StoreProcess} */ store) => `${store.kind}-${bytes}`;
  const all = Object.values(users).filter((store) => store !== users.lengths || doLengthsMatter(bytes, work));
  /** @type {Map<StoreProcess, number[]>} */
  const samples = new Map(all.map((store) => [store, []]));
  for (const store of all) {
    const one = { name: nameOf(store), bytes, count: 1, atOnce: 1 };
    // It stays stored, and is the file read afterwards.
    if (work === "put") await store.run({ ...one, work });
    await store.run({ ...one, work: "check" });
    bench.checks.that(`${store.kind} gives what it was given`, true);
    for (let index = 0; index < WARM_UP[mode]; index++) await turn(store);
  }
  for (let round = 0; round < rounds; round++) {
    for (const store of round % 2 === 0 ? all : all.toReversed()) samples.get(store)?.push(await turn(store));
  }

  const requests = async (/** @type {"ours" | "raw"} */ user) => {
    const counted = await countRequests(user, async (same) => {
      const name = work === "get" ? nameOf(same) : `counted-${nameOf(same)}`;
      await same.run({ work, name, bytes, count: 1, atOnce: 1 });
    });
    return counted === null ? "" : `, ${counted} ${counted === 1 ? "request" : "requests"}`;
  };
  const ours = samples.get(users.ours) ?? [];
  const what = `${work.toUpperCase()} of ${size.title}, ${title}${await requests("ours")}`;
  const rawPeer = `${peer}${await requests("raw")}`;
  const line = { what, ours, format: formatMicros };
  const theirs = samples.get(users.raw) ?? [];
  const lines = [compare({ ...line, peer: rawPeer, theirs, ...(aim === undefined ? {} : { aim }) })];
  const known = users.lengths === undefined ? undefined : samples.get(users.lengths);
  if (known === undefined) return lines;
  return [...lines, compare({ ...line, peer: `${peer}, length known beforehand`, theirs: known })];
}

/** Whether a known body length makes a difference. @param {number} bytes @param {string} work */
function doLengthsMatter(bytes, work) {
  return work === "put" && bytes > 8 * 2 ** 20;
}
