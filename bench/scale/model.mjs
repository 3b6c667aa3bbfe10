import { formatColumns } from "../src/table.mjs";
import { describeEvents } from "./events.mjs";
import {
  billOf,
  cdnPrice,
  coresOf,
  loadOf,
  monthlyGigabytes,
  nodesOf,
  recordsOf,
  requestsOf,
  STORAGES,
} from "./plan.mjs";
import { calibrate, trafficOf } from "./traffic.mjs";
import { bytes, count, percent, percents, points, USD } from "./units.mjs";

/** @import { Inputs } from "./inputs.mjs" */
/** @import { Load, Storage } from "./plan.mjs" */
/** @import { Calibration } from "./traffic.mjs" */

/**
 * The tables of docs/scale.md that are calculated from inputs.json, by the name of their place.
 * @param {Inputs} inputs
 * @returns {Record<string, string>}
 */
export function describeModel(inputs) {
  const calibration = calibrate(inputs);
  const images = inputs.number("images");
  const [cacheSeconds = 0] = inputs.numbers("cacheSeconds");
  const loads = inputs
    .numbers("renditionShares")
    .map((share) => loadOf(inputs, calibration, { images, share, cacheSeconds }));
  const middle = loads[Math.floor(loads.length / 2)];
  if (middle === undefined) throw new Error("inputs.json has no renditionShares");
  return {
    calibration: describeCalibration(calibration),
    reads: describeReads(inputs, calibration),
    load: describeLoads(inputs, loads),
    stores: describeStores(inputs, middle),
    events: describeEvents(inputs, middle),
    price: describePrices(inputs, calibration),
  };
}

/** @param {Calibration} calibration */
function describeCalibration({ alpha, capacityShare, points: all }) {
  const rows = all.map(({ what, published, model }) => {
    const [least, most] = [Math.min(...published), Math.max(...published)];
    const residual = model < least ? model - least : Math.max(0, model - most);
    return [what, published.map(percent).join(" to "), percent(model), points(residual)];
  });
  const titles = ["Hit share of Facebook's photos", "Published", "Model", "Residual"];
  const table = formatColumns(titles, rows, new Set(titles.slice(1)));
  const found = `The fit: α = ${alpha.toFixed(2)}, and a location caches ${percent(capacityShare)} of the objects.`;
  return `${table}\n\n${found}`;
}

/** @param {Inputs} inputs @param {Calibration} calibration */
function describeReads(inputs, calibration) {
  const images = inputs.number("images");
  const [usual = 0, ...longer] = inputs.numbers("cacheSeconds");
  const variants = inputs.numbers("variants");
  const cases = [
    ...variants.map((each) => ({ alpha: calibration.alpha, variants: each })),
    ...inputs
      .numbers("zipf.exponents")
      .toReversed()
      .map((alpha) => ({ alpha, variants: variants[1] ?? 1 })),
  ];
  const rows = cases.map((of) => {
    const at = (/** @type {number} */ cacheSeconds) =>
      trafficOf(inputs, { images, ...calibration, ...of, cacheSeconds });
    const traffic = at(usual);
    const reach = (/** @type {ReturnType<typeof at>} */ of) => count(of.reads - of.fresh);
    return [
      String(of.variants),
      of.alpha.toFixed(2),
      percent(traffic.hitShare),
      percent(traffic.fresh / traffic.reads),
      reach(traffic),
      percent(traffic.revalidated / (traffic.reads - traffic.fresh)),
      ...longer.map((cacheSeconds) => reach(at(cacheSeconds))),
    ];
  });
  const titles = [
    ...[
      "Sizes × formats",
      "α",
      "Cached by the CDN",
      "fresh",
      "Reads per second at the nodes",
      "of these 304",
    ],
    ...longer.map((seconds) => `at \`cacheSeconds\` ${count(seconds)}`),
  ];
  return formatColumns(titles, rows, new Set(titles));
}

/** @param {Inputs} inputs @param {readonly Load[]} loads By the bytes of their renditions. */
function describeLoads(inputs, loads) {
  const [fill, nodeCores] = [inputs.number("utilization"), inputs.number("nodeCores")];
  /** @type {[string, string, (load: Load) => string][]} */
  const rows = [
    [
      "renditions of an image",
      "share × bytes of an original ÷ bytes of a rendition",
      (of) => count(of.renditions),
    ],
    ["uploads per second, U", `N ÷ ${inputs.number("lifeDays")} days`, (of) => of.rates.upload.toFixed(1)],
    ["reads per second at the CDN, R", "N × reads of an image", (of) => count(of.traffic.reads)],
    ["of these at the nodes, answered with 304", "Zipf, FIFO", (of) => count(of.traffic.revalidated)],
    ["of these at the nodes, answered with the image", "Zipf, FIFO", (of) => count(of.traffic.missed)],
    ["of the latter, from the nodes' memory", "Zipf, LRU", (of) => percents(of.memoryShare)],
    ["renders per second", "U × renditions", (of) => count(of.rates.cold)],
    ["cores of the nodes", "Σ rate × CPU", (of) => coresOf(inputs, "redis-s3", of.rates).toFixed(1)],
    ["of these for renders", "rate × CPU", (of) => coresOf(inputs, "redis-s3", onlyCold(of)).toFixed(1)],
    [
      `nodes of ${nodeCores} cores`,
      `cores ÷ ${nodeCores} ÷ ${fill}`,
      (of) => count(nodesOf(inputs, of.rates)),
    ],
    ["bytes of the originals", "N × bytes", (of) => bytes(of.originalBytes)],
    ["bytes of the renditions", "share × originals", (of) => bytes(of.renditionBytes)],
    ["objects in S3", "N × (1 + renditions)", (of) => count(of.images * (1 + of.renditions))],
    ["bytes of a backup", "originals; renditions are rendered again", (of) => bytes(of.originalBytes)],
    ["S3: PUT and LIST per second", "Σ rate × requests", (of) => count(s3Rate(inputs, of, ["PUT", "LIST"]))],
    ["S3: GET per second", "Σ rate × requests", (of) => count(s3Rate(inputs, of, ["GET", "HEAD"]))],
    ["egress of the nodes per month", "images × bytes", (of) => bytes(egress(inputs, of.traffic.missed))],
    ["egress of the CDN per month", "R × bytes", (of) => bytes(egress(inputs, of.traffic.reads))],
  ];
  const shares = inputs.numbers("renditionShares").map((share) => `${share.toFixed(1)} × originals`);
  const cells = rows.map(([what, how, of]) => [what, how, ...loads.map(of)]);
  return formatColumns(["What", "How", ...shares], cells, new Set(shares));
}

/** @param {Load} load */
function onlyCold({ rates }) {
  return { upload: 0, hot: 0, stored: 0, cold: rates.cold, swept: 0 };
}

/** @param {Inputs} inputs @param {Load} load @param {readonly string[]} operations */
function s3Rate(inputs, { rates }, operations) {
  const kinds = /** @type {(keyof Load["rates"])[]} */ (Object.keys(rates)); // Its own keys.
  const of = (/** @type {keyof Load["rates"]} */ kind) => {
    const requests = requestsOf(inputs, "redis-s3", kind);
    return rates[kind] * operations.reduce((sum, name) => sum + (requests[name] ?? 0), 0);
  };
  return kinds.reduce((sum, kind) => sum + of(kind), 0);
}

/** @param {Inputs} inputs @param {number} perSecond */
function egress(inputs, perSecond) {
  return monthlyGigabytes(inputs, perSecond) * 1e9;
}

/** Of the records. @param {Inputs} inputs @param {Load} load */
function describeStores(inputs, load) {
  const { rates } = load;
  const lookUps = Object.values(rates).reduce((sum, rate) => sum + rate, 0);
  const cores = (/** @type {Storage} */ storage) =>
    /** @type {const} */ (["upload", "hot", "stored", "cold"]).reduce(
      (sum, kind) => sum + rates[kind] * (inputs.counts(`cpu.${storage}.${kind}`).records ?? 0),
      0,
    ) / 1e6;
  const memory = inputs.number("recordsMachineGigabytes") * 1e9;
  // A look-up of a record that is not in memory reads a page of its index and one of its table.
  const inMemory = memory / (2 * inputs.number("postgres.blockBytes"));
  const diskReads = 2 * lookUps * (1 - load.traffic.rereadShare(inMemory));
  const swept = (/** @type {string} */ name) => count(inputs.number(`${name}.sweptPerSecond`));
  const [redis, postgres] = [recordsOf(inputs, "redis-s3", load), recordsOf(inputs, "postgres-s3", load)];
  const rows = [
    [
      "bytes of a record with its indexes",
      ...["redis.imageBytes", "postgres.recordBytes"].map((name) => count(inputs.number(name))),
    ],
    ["bytes of all, those of ended images included", bytes(redis.bytes), bytes(postgres.bytes)],
    ["where", "memory", "disk"],
    ["masters, or primaries", count(redis.masters), count(postgres.masters)],
    ["machines with the standbys", count(redis.machines), count(postgres.machines)],
    ["look-ups and changes per second", count(lookUps), count(lookUps)],
    ["cores for them", cores("redis-s3").toFixed(2), cores("postgres-s3").toFixed(2)],
    [
      `look-ups per second of one process, of ${count(inputs.number("postgres.records"))}`,
      "",
      count(inputs.number("postgres.lookUpsPerSecond")),
    ],
    ["reads of the disk per second, at most", "none", count(diskReads)],
    ["expired images that one process sweeps per second", swept("redis"), swept("postgres")],
    ["USD per month", USD(redis.price), USD(postgres.price)],
  ];
  const titles = ["Records of N images", "Redis", "PostgreSQL"];
  return formatColumns(titles, rows, new Set(titles.slice(1)));
}

/** @param {Inputs} inputs @param {Calibration} calibration */
function describePrices(inputs, calibration) {
  const shares = inputs.numbers("renditionShares");
  const share = shares[Math.floor(shares.length / 2)] ?? 0;
  const [cacheSeconds = 0] = inputs.numbers("cacheSeconds");
  const storages = /** @type {[Storage, string][]} */ (Object.entries(STORAGES)); // Its own keys.
  const rows = inputs.numbers("sizes").flatMap((images) => {
    const load = loadOf(inputs, calibration, { images, share, cacheSeconds });
    const cdn = USD(cdnPrice(inputs, load.traffic.reads));
    return storages.map(([storage, title]) => {
      const {
        nodes,
        records,
        images: pictures,
        requests,
        backup,
        egress,
        total,
      } = billOf(inputs, storage, load);
      const parts = [nodes, records, pictures, requests, backup, egress, total].map(USD);
      return [count(images), title, ...parts, cdn];
    });
  });
  const titles = [
    ...[
      "Images",
      "Storage",
      "Nodes",
      "Records",
      "Images' bytes",
      "Requests",
      "Backup",
      "Egress of the nodes",
    ],
    ...["Total, USD per month", "CDN, further"],
  ];
  return formatColumns(titles, rows, new Set(titles.filter((title) => title !== "Storage")));
}
