import { sum } from "../src/redis-monitor.mjs";
import { formatColumns } from "../src/table.mjs";
import { REQUESTS } from "./requests.mjs";

/** @import { Footprint } from "./memory.mjs" */
/** @import { Costs } from "./nodes.mjs" */
/** @import { Counts } from "./requests.mjs" */

/** Assumptions that no benchmark can measure: an example. */
const EXAMPLE = {
  images: 1e9,
  lifeDays: 365,
  tombstoneDays: 30,
  readsPerSecond: 50_000,
  /** The share that the CDN answers; then the shares of the rest: from a node's memory, from the store, rendered. */
  cdnShare: 0.95,
  shares: { hot: 0.7, stored: 0.28, cold: 0.02 },
  originalBytes: 500_000,
  renditions: 3,
  renditionBytes: 20_000,
  /** Target utilization of cores and memory. */
  fill: 0.5,
  redisNodeBytes: 64e9,
};
/** Examples, not those of a provider, in any currency: per 1000 requests, and per GB and month. */
const PRICES = { write: 0.005, read: 0.0005, gigabyte: 0.02 };
const MONTH_SECONDS = 30 * 86_400;
/** The minimum rates that Amazon S3 accepts per partitioned prefix and second. */
const S3_RATES = { write: 3500, read: 5500 };
const CLUSTER_SLOTS = 16_384;

/**
 * A billion images, calculated from the measurements: records in Redis, images in S3.
 * @param {object} measured
 * @param {Costs} measured.costs
 * @param {Map<string, Counts>} measured.split
 * @param {Footprint} measured.footprint
 */
export function describeModel({ costs, split, footprint }) {
  const { images: N, readsPerSecond: R, cdnShare, shares, originalBytes, renditions: k } = EXAMPLE;
  const uploads = N / (EXAMPLE.lifeDays * 86_400);
  const origin = R * (1 - cdnShare);
  const rates = {
    upload: uploads,
    hot: origin * shares.hot,
    stored: origin * shares.stored,
    cold: origin * shares.cold,
    swept: uploads,
  };
  const kinds = /** @type {(keyof typeof rates)[]} */ (Object.keys(rates)); // Its own keys.
  const total = (/** @type {(kind: keyof typeof rates) => number} */ of) =>
    kinds.reduce((all, kind) => all + rates[kind] * of(kind), 0);
  const s3 = (/** @type {string[]} */ ...operations) =>
    total((kind) => sum(pick(split.get(REQUESTS[kind])?.s3 ?? {}, operations)));
  const served = /** @type {const} */ (["hot", "stored", "cold", "upload"]);
  const cores = (/** @type {"nodeMicros" | "redisMicros"} */ of) =>
    served.reduce((all, kind) => all + rates[kind] * costs[kind][of], 0) / 1e6;

  const redisBytes = N * footprint.imageBytes;
  const goneBytes = uploads * 86_400 * EXAMPLE.tombstoneDays * footprint.goneBytes;
  const nodes = Math.ceil((redisBytes + goneBytes) / (EXAMPLE.redisNodeBytes * EXAMPLE.fill));
  const s3Bytes = N * (originalBytes + k * EXAMPLE.renditionBytes + (1 + k) * 16);
  const [writes, reads, deletes] = [s3("PUT", "LIST"), s3("GET", "HEAD"), s3("DELETE")];
  const monthly = (/** @type {number} */ perSecond, /** @type {number} */ price) =>
    (perSecond * MONTH_SECONDS * price) / 1000;

  const rows = [
    ["living images, N", "given", count(N)],
    ["uploads per second, and images swept, U", `N / ${EXAMPLE.lifeDays} days`, uploads.toFixed(1)],
    ["public reads per second, R", "given", count(R)],
    ["reads that reach a node per second, r", `R × (1 − ${cdnShare}) by the CDN's hit rate`, count(origin)],
    [
      "of these from memory, from the store, rendered",
      "given",
      [shares.hot, shares.stored, shares.cold].map((share) => `${(share * 100).toFixed(0)} %`).join(", "),
    ],
    ["cores of the nodes", "Σ rate × CPU of a node", cores("nodeMicros").toFixed(1)],
    [
      "the same, at half utilization",
      `÷ ${EXAMPLE.fill}`,
      `${Math.ceil(cores("nodeMicros") / EXAMPLE.fill)} cores`,
    ],
    ["Redis: memory of living images", "N × bytes of one", bytes(redisBytes)],
    ["Redis: memory of deleted images", `U × ${EXAMPLE.tombstoneDays} days × bytes of one`, bytes(goneBytes)],
    [
      `Redis: masters of ${bytes(EXAMPLE.redisNodeBytes)}, filled by half`,
      "memory ÷ capacity of one",
      count(nodes),
    ],
    [
      "Redis: the list of due dates alone, on one master",
      "N × bytes of an entry",
      bytes(N * footprint.dueBytes),
    ],
    ["Redis: images in a slot of the cluster", `N / ${count(CLUSTER_SLOTS)}`, count(N / CLUSTER_SLOTS)],
    [
      "Redis: commands per second",
      "Σ rate × commands",
      count(total((kind) => sum(split.get(REQUESTS[kind])?.redis ?? {}))),
    ],
    ["Redis: cores, without sweeps", "Σ rate × CPU of Redis", cores("redisMicros").toFixed(2)],
    [
      "sweeping processes",
      "U ÷ images that one sweeps per second",
      String(Math.ceil(uploads / footprint.sweptPerSecond)),
    ],
    ["S3: objects", `N × (1 + ${k} renditions)`, count(N * (1 + k))],
    ["S3: bytes", `N × (${bytes(originalBytes)} + ${k} × ${bytes(EXAMPLE.renditionBytes)})`, bytes(s3Bytes)],
    [
      "S3: PUT and LIST per second",
      "Σ rate × requests",
      `${count(writes)}; one partition takes ${count(S3_RATES.write)} PUT`,
    ],
    [
      "S3: GET per second",
      "Σ rate × requests",
      `${count(reads)}; one partition takes ${count(S3_RATES.read)}`,
    ],
    ["S3: DELETE per second", "Σ rate × requests", count(deletes)],
    [
      "S3: PUT and LIST, price per month",
      `per second × 30 days × ${PRICES.write} / 1000 (an example)`,
      count(monthly(writes, PRICES.write)),
    ],
    [
      "S3: GET, price per month",
      `per second × 30 days × ${PRICES.read} / 1000 (an example)`,
      count(monthly(reads, PRICES.read)),
    ],
    [
      "S3: bytes, price per month",
      `GB × ${PRICES.gigabyte} (an example)`,
      count((s3Bytes / 1e9) * PRICES.gigabyte),
    ],
  ];
  const titles = ["What", "How", "Example"];
  return formatColumns(titles, rows, new Set(["Example"]));
}

/** @param {Record<string, number>} counts @param {readonly string[]} names */
function pick(counts, names) {
  return Object.fromEntries(names.map((name) => [name, counts[name] ?? 0]));
}

/** @param {number} value */
function count(value) {
  return Math.round(value).toLocaleString("en");
}

/** @param {number} value */
function bytes(value) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** step;
  return `${scaled < 10 && step > 0 ? scaled.toFixed(1) : scaled.toFixed(0)} ${units[step]}`;
}
