import { DAY_SECONDS, MONTH_SECONDS } from "./inputs.mjs";
import { trafficOf } from "./traffic.mjs";

/** @import { Inputs } from "./inputs.mjs" */
/** @import { Calibration, Traffic } from "./traffic.mjs" */

/** Storages that the model compares. */
export const STORAGES = {
  "redis-s3": "records in Redis, images in S3",
  "postgres-s3": "records in PostgreSQL, images in S3",
  s3: "S3 alone",
  directory: "a directory on one machine",
};

/** @typedef {keyof typeof STORAGES} Storage */
/** @typedef {"upload" | "hot" | "stored" | "cold" | "edited" | "removed" | "swept"} Kind A request; `hot` includes 304. */
/** Kinds whose CPU was measured. */
export const SERVED = /** @type {const} */ (["upload", "hot", "stored", "cold"]);

/**
 * The rates and the bytes of so many images.
 * @typedef {object} Load
 * @property {number} images
 * @property {number} renditions Stored, of each image.
 * @property {Traffic} traffic
 * @property {number} memoryShare Of the images that nodes send: found in their memory.
 * @property {Record<"upload" | "hot" | "stored" | "cold" | "swept", number>} rates Per second.
 * @property {number} originalBytes
 * @property {number} renditionBytes
 * @property {number} goneImages Whose records are kept.
 */

/**
 * @param {Inputs} inputs
 * @param {Calibration} calibration
 * @param {{ images: number, share: number, cacheSeconds: number }} of `share`: bytes of the renditions to those of the originals.
 * @returns {Load}
 */
export function loadOf(inputs, calibration, { images, share, cacheSeconds }) {
  const renditionBytes = inputs.number("renditionBytes");
  const originalBytes = inputs.number("originalBytes");
  const renditions = (share * originalBytes) / renditionBytes;
  const traffic = trafficOf(inputs, { images, ...calibration, variants: renditions, cacheSeconds });
  const upload = images / (inputs.number("lifeDays") * DAY_SECONDS);
  // A rendition is rendered once in the life of its image.
  const cold = upload * renditions;
  const ratesWith = (/** @type {number} */ memoryShare) => ({
    upload,
    hot: traffic.revalidated + traffic.missed * memoryShare,
    stored: Math.max(0, traffic.missed * (1 - memoryShare) - cold),
    cold,
    swept: upload,
  });
  // As many nodes as are needed without memory.
  const nodes = nodesOf(inputs, ratesWith(0));
  const memoryObjects = (nodes * inputs.number("nodeMemoryBytes")) / renditionBytes;
  const memoryShare = traffic.memoryShare(memoryObjects);
  return {
    ...{ images, renditions, traffic, memoryShare, rates: ratesWith(memoryShare) },
    originalBytes: images * originalBytes,
    renditionBytes: images * renditions * renditionBytes,
    goneImages: upload * inputs.number("tombstoneDays") * DAY_SECONDS,
  };
}

/** @param {Inputs} inputs @param {Storage} storage @param {Load["rates"]} rates */
export function coresOf(inputs, storage, rates) {
  return SERVED.reduce((sum, kind) => sum + rates[kind] * cpuMicros(inputs, storage, kind).node, 0) / 1e6;
}

/** Machines with records in Redis and images in S3. @param {Inputs} inputs @param {Load["rates"]} rates */
export function nodesOf(inputs, rates) {
  const cores = coresOf(inputs, "redis-s3", rates) / inputs.number("utilization");
  return Math.ceil(cores / inputs.number("nodeCores"));
}

/**
 * The CPU of one request.
 * @param {Inputs} inputs @param {Storage} storage @param {typeof SERVED[number]} kind
 * @returns {{ node: number, records: number }} In microseconds.
 */
export function cpuMicros(inputs, storage, kind) {
  if (storage === "s3" && kind !== "hot") {
    // As with records in Redis, and the further requests to S3.
    const { node = 0 } = inputs.counts(`cpu.redis-s3.${kind}`);
    const { PUT = 0, GET = 0 } = inputs.counts("cpu.s3Requests");
    const [all, images] = [requestsOf(inputs, "s3", kind), requestsOf(inputs, "redis-s3", kind)];
    const further = (/** @type {string} */ operation) => (all[operation] ?? 0) - (images[operation] ?? 0);
    return { node: node + further("PUT") * PUT + further("GET") * GET, records: 0 };
  }
  const { node = 0, records = 0 } = inputs.counts(`cpu.${storage}.${kind}`);
  return { node, records };
}

/** Requests to S3. @param {Inputs} inputs @param {Storage} storage @param {Kind} kind @returns {Record<string, number>} */
export function requestsOf(inputs, storage, kind) {
  if (storage === "directory") return {};
  const { commands: _, ...operations } = inputs.counts(`requests.${storage}.${kind}`);
  return operations;
}

/** The price of requests to S3, in USD. @param {Inputs} inputs @param {Record<string, number>} operations */
export function requestsPrice(inputs, operations) {
  const prices = inputs.counts("price.requests");
  const micros = Object.entries(operations).map(([name, count]) => count * (prices[name] ?? Number.NaN));
  return micros.reduce((sum, each) => sum + each, 0) / 1e6;
}

/** @param {Inputs} inputs The price of a second of a core, in USD. */
export function coreSecondPrice(inputs) {
  return inputs.number("price.core") / MONTH_SECONDS;
}

/**
 * The machines that hold the records, standbys included.
 * @param {Inputs} inputs @param {Storage} storage @param {Load} load
 * @returns {{ machines: number, masters: number, bytes: number, price: number }} `bytes`: of one copy; `price` in USD per month.
 */
export function recordsOf(inputs, storage, load) {
  const fill = inputs.number("utilization");
  const most = inputs.number("recordsMachineGigabytes");
  const least = inputs.number("nodeMachineGigabytes");
  const copies = 1 + inputs.number("standbys");
  const priceOf = (/** @type {number} */ memoryGigabytes, /** @type {number} */ diskGigabytes) =>
    inputs.number("price.core") +
    Math.max(0, memoryGigabytes - least) * inputs.number("price.memoryGigabyte") +
    diskGigabytes * inputs.number("price.diskGigabyte");
  if (storage === "redis-s3") {
    const bytes =
      load.images * inputs.number("redis.imageBytes") + load.goneImages * inputs.number("redis.goneBytes");
    const gigabytes = bytes / 1e9 / fill;
    const masters = Math.ceil(gigabytes / most);
    const price = masters * copies * priceOf(gigabytes / masters, gigabytes / masters);
    return { machines: masters * copies, masters, bytes, price };
  }
  if (storage === "postgres-s3") {
    const bytes = (load.images + load.goneImages) * inputs.number("postgres.recordBytes");
    const gigabytes = bytes / 1e9 / fill;
    const price = copies * priceOf(Math.min(most, gigabytes), gigabytes);
    return { machines: copies, masters: 1, bytes, price };
  }
  return { machines: 0, masters: 0, bytes: 0, price: 0 };
}

/**
 * The bill of a month without the CDN, in USD.
 * @param {Inputs} inputs @param {Storage} storage @param {Load} load
 */
export function billOf(inputs, storage, load) {
  const fill = inputs.number("utilization");
  const { rates, traffic } = load;
  const cores = Math.ceil(coresOf(inputs, storage, rates) / fill);
  const stored = (load.originalBytes + load.renditionBytes) / 1e9;
  const kinds = /** @type {(keyof Load["rates"])[]} */ (Object.keys(rates)); // Its own keys.
  const perSecond = kinds.reduce(
    (sum, kind) => sum + rates[kind] * requestsPrice(inputs, requestsOf(inputs, storage, kind)),
    0,
  );
  const disk = (stored / fill) * inputs.number("price.diskGigabyte");
  const bill = {
    nodes: cores * inputs.number("price.core"),
    records: recordsOf(inputs, storage, load).price,
    images: storage === "directory" ? disk : stored * inputs.number("price.objectGigabyte"),
    requests: perSecond * MONTH_SECONDS,
    // Renditions are not part of a backup.
    backup: (load.originalBytes / 1e9) * inputs.number("price.objectGigabyte"),
    egress: monthlyGigabytes(inputs, traffic.missed) * inputs.number("price.nodeEgressGigabyte"),
  };
  return { ...bill, total: Object.values(bill).reduce((sum, part) => sum + part, 0) };
}

/** Of images that are sent so often per second. @param {Inputs} inputs @param {number} perSecond */
export function monthlyGigabytes(inputs, perSecond) {
  return (perSecond * MONTH_SECONDS * inputs.number("renditionBytes")) / 1e9;
}

/** What a CDN charges for a month of reads, in USD. @param {Inputs} inputs @param {number} perSecond */
export function cdnPrice(inputs, perSecond) {
  let left = monthlyGigabytes(inputs, perSecond);
  let price = 0;
  for (const [size = 0, perGigabyte = 0] of inputs.pairs("price.cdnGigabyte")) {
    const part = Math.min(left, size);
    price += part * perGigabyte;
    left -= part;
  }
  return price;
}
