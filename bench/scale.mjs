/**
 * A model of what 10⁵, 10⁷ and 10⁹ images need and cost, from the inputs below: `node bench/scale.mjs` writes its two tables
 * into bench/README.md, `--print` only prints them. Replace the chosen inputs by yours. It measures nothing.
 */
import { formatColumns, replaceWritten } from "./src/table.mjs";

const DAY_SECONDS = 86_400;
const MONTH_SECONDS = (365 * DAY_SECONDS) / 12;

/**
 * Requests of one call: to the store of records, and to S3. Counted on the wire on 2026-11-24, rate limits included.
 * CPU in µs, of the node and of the store of records: rows of the benchmark, and three nodes on one machine, 2026-11-21.
 * @typedef {{ PUT?: number, GET?: number, LIST?: number, node?: number, records?: number }} Cost
 */

/** @typedef {"upload" | "hot" | "stored" | "cold" | "edited" | "removed"} Kind `hot`: from memory, 304 included. */

/** @type {Record<string, Record<Kind, Cost>>} */
const COSTS = {
  "records in Redis, images in S3": {
    upload: { PUT: 1, node: 18_200, records: 258 },
    hot: { node: 273, records: 22 },
    stored: { GET: 1, node: 2020, records: 69 },
    cold: { PUT: 1, GET: 1, node: 145_800, records: 509 },
    edited: {},
    removed: { GET: 5, LIST: 2 },
  },
  "records in PostgreSQL, images in S3": {
    upload: { PUT: 1, node: 18_323, records: 1167 },
    hot: { node: 314, records: 237 },
    stored: { GET: 1, node: 2102, records: 225 },
    cold: { PUT: 1, GET: 1, node: 145_882, records: 833 },
    edited: {},
    removed: { GET: 5, LIST: 2 },
  },
  "S3 alone": {
    upload: { PUT: 3, GET: 1, node: 20_757 },
    hot: { GET: 1, node: 1940 },
    stored: { GET: 4, node: 4255 },
    cold: { PUT: 3, GET: 7, node: 152_082 },
    edited: { PUT: 1, GET: 2 },
    removed: { PUT: 3, GET: 11, LIST: 2 },
  },
  "a directory on one machine": {
    upload: { node: 10_300 },
    hot: { node: 111 },
    stored: { node: 143 },
    cold: { node: 76_900 },
    edited: {},
    removed: {},
  },
};

/** Chosen: an image lives for a year; cores, memory and disks are half used; each store of records has two standbys. */
const CHOSEN = {
  lifeDays: 365,
  tombstoneDays: 30,
  originalBytes: 200_000,
  renditionBytes: 20_000,
  renditions: 6,
  utilization: 0.5,
  nodeCores: 2,
  copies: 3,
  recordsMachineGigabytes: 64,
};

/**
 * Facebook's photos (Huang et al., 2013): 77 million requests of a million photos in a month, 65.5 % of them answered by
 * browsers. Behind a CDN of 20 locations with `cacheSeconds` 300, Zipf's law fitted to their published hit shares leaves these
 * shares to the nodes.
 */
const READS = { perImageDay: (77 * (1 - 0.655)) / 30, atNodes: 0.62, revalidated: 0.42 };

/** Measured on 2026-11-23 and 2026-11-24: bytes of a record with its indexes. */
const RECORD_BYTES = { redis: 1263, redisRemoved: 912, postgres: 892 };

/** USD. Fly.io (core, memory, disk, egress: a month or a GB), Cloudflare R2 (object GB a month, million requests), 2026-11-23. */
const PRICES = {
  core: 33,
  memory: 6,
  disk: 0.15,
  egress: 0.02,
  object: 0.015,
  PUT: 4.5,
  LIST: 4.5,
  GET: 0.36,
};

/** Each kind of request, in the words of the table. */
const KINDS = /** @type {const} */ ({
  upload: "uploads",
  hot: "reads from memory",
  stored: "reads from the store",
  cold: "new renditions",
  edited: "edits",
  removed: "deletions",
});

/** What a million requests of each kind cost: requests to S3, and CPU of the nodes and of the store of records. */
export function millionTable() {
  const rows = Object.entries(KINDS).map(([kind, name]) => {
    const cells = Object.values(COSTS).map((costs) => {
      const cost = costs[/** @type {Kind} */ (kind)]; // A key of KINDS.
      const cpu = ((cost.node ?? 0) + (cost.records ?? 0)) * (PRICES.core / MONTH_SECONDS);
      return `${requestsPrice(cost).toFixed(2)} + ${cpu.toFixed(2)}`;
    });
    return [name, ...cells];
  });
  const titles = ["USD for a million of", ...Object.keys(COSTS)];
  return formatColumns(titles, rows, new Set(titles.slice(1)));
}

/** Rates, machines, bytes and the bill of a month. */
export function monthTable() {
  const rows = [1e5, 1e7, 1e9].flatMap((images) => {
    return Object.entries(COSTS).map(([storage, costs]) => {
      const month = monthOf(images, storage, costs);
      return [images.toLocaleString("en"), storage, ...month];
    });
  });
  const titles = [
    "Images",
    "Storage",
    "Reads per second",
    "Renders per second",
    "Cores",
    "Records",
    "Bytes",
    "USD per month",
  ];
  return formatColumns(titles, rows, new Set(titles.filter((title) => title !== "Storage")));
}

/**
 * @param {number} images
 * @param {string} storage
 * @param {Record<Kind, Cost>} costs
 */
function monthOf(images, storage, costs) {
  const upload = images / (CHOSEN.lifeDays * DAY_SECONDS);
  const reads = ((images * READS.perImageDay) / DAY_SECONDS) * READS.atNodes;
  const cold = upload * CHOSEN.renditions;
  const hot = reads * READS.revalidated;
  const rates = { upload, hot, stored: Math.max(0, reads - hot - cold), cold, edited: 0, removed: upload };
  const kinds = /** @type {Kind[]} */ (Object.keys(KINDS)); // Its own keys.
  const sum = (/** @type {(cost: Cost) => number} */ of) => {
    return kinds.reduce((total, kind) => total + rates[kind] * of(costs[kind]), 0);
  };
  const cores = Math.max(1, Math.ceil(sum(({ node = 0 }) => node) / 1e6 / CHOSEN.utilization));
  const gigabytes = (images * (CHOSEN.originalBytes + CHOSEN.renditions * CHOSEN.renditionBytes)) / 1e9;
  const records = recordsOf(images, upload, storage);
  const bytes =
    storage === "a directory on one machine"
      ? (gigabytes / CHOSEN.utilization) * PRICES.disk
      : gigabytes * PRICES.object;
  const backup = ((images * CHOSEN.originalBytes) / 1e9) * PRICES.object;
  const egress = ((reads - hot) * MONTH_SECONDS * CHOSEN.renditionBytes * PRICES.egress) / 1e9;
  const requests = (sum(requestsPrice) * MONTH_SECONDS) / 1e6;
  const total = cores * PRICES.core + records.price + bytes + backup + egress + requests;
  return [
    formatWhole(reads),
    formatFigure(cold),
    String(cores),
    records.text,
    formatGigabytes(gigabytes),
    formatWhole(total),
  ];
}

/**
 * The machines that hold the records, standbys included: memory for Redis, disk for PostgreSQL.
 * @param {number} images
 * @param {number} uploadsPerSecond
 * @param {string} storage
 */
function recordsOf(images, uploadsPerSecond, storage) {
  const removed = uploadsPerSecond * CHOSEN.tombstoneDays * DAY_SECONDS;
  const most = CHOSEN.recordsMachineGigabytes;
  if (storage.includes("Redis")) {
    const needed =
      (images * RECORD_BYTES.redis + removed * RECORD_BYTES.redisRemoved) / 1e9 / CHOSEN.utilization;
    const masters = Math.ceil(needed / most);
    const machines = masters * CHOSEN.copies;
    const price = machines * (PRICES.core + (needed / masters) * (PRICES.memory + PRICES.disk));
    return { price, text: `${machines} × ${formatGigabytes(needed / masters)} memory` };
  }
  if (storage.includes("PostgreSQL")) {
    const needed = ((images + removed) * RECORD_BYTES.postgres) / 1e9 / CHOSEN.utilization;
    const price =
      CHOSEN.copies * (PRICES.core + Math.min(most, needed) * PRICES.memory + needed * PRICES.disk);
    return { price, text: `${CHOSEN.copies} × ${formatGigabytes(needed)} disk` };
  }
  return { price: 0, text: "with the images" };
}

/** Of a million such requests, in USD. @param {Cost} cost */
function requestsPrice({ PUT = 0, GET = 0, LIST = 0 }) {
  return PUT * PRICES.PUT + GET * PRICES.GET + LIST * PRICES.LIST;
}

/** @param {number} gigabytes */
function formatGigabytes(gigabytes) {
  return gigabytes < 1000 ? `${formatFigure(gigabytes)} GB` : `${formatFigure(gigabytes / 1000)} TB`;
}

/** @param {number} value */
function formatWhole(value) {
  return Math.round(value).toLocaleString("en");
}

/** Two significant digits. @param {number} value */
function formatFigure(value) {
  return Number(value.toPrecision(2)).toLocaleString("en", { maximumSignificantDigits: 2 });
}

if (import.meta.filename === process.argv[1]) {
  for (const [part, text] of Object.entries({ million: millionTable(), month: monthTable() })) {
    console.log(`${text}\n`);
    if (process.argv.includes("--print")) continue;
    await replaceWritten(new URL("README.md", import.meta.url), `bench/scale.mjs (${part})`, text);
  }
}
