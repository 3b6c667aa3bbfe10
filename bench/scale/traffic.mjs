import { divided, expiring, fifoCache, hitShare, lruCache, solve, sumOver, zipfBins } from "./zipf.mjs";

/** @import { Inputs } from "./inputs.mjs" */
/** @import { Bin, Hit } from "./zipf.mjs" */

/**
 * What the published hit shares say about reads and about the caches of a CDN.
 * @typedef {object} Calibration
 * @property {number} alpha Exponent of Zipf's law.
 * @property {number} capacityShare Objects in the cache of one location, of all.
 * @property {{ what: string, published: readonly number[], model: number }[]} points `published`: a figure, or two bounds.
 */

const STEPS = 120;
const ALPHA = { from: 0.6, step: 0.005 };

/**
 * Fits the exponent and the capacity to the hit shares of an edge cache of one, two and three times its size, and predicts
 * those that the fit has not seen.
 * @param {Inputs} inputs
 * @returns {Calibration}
 */
export function calibrate(inputs) {
  const photos = inputs.number("facebook.photos");
  const edges = inputs.number("facebook.edges");
  const requests = inputs.number("facebook.requests") * (1 - inputs.number("facebook.browserShare"));
  const published = inputs.numbers("facebook.edgeHitShares");
  const [once = 0, ...larger] = published;

  const fits = Array.from({ length: STEPS }, (_, step) => {
    const alpha = ALPHA.from + step * ALPHA.step;
    const bins = zipfBins(photos, alpha, requests / edges);
    const hit = expiring(timeOf(bins, once));
    const capacity = sumOver(bins, ({ rate }) => hit(rate));
    const model = published.map((_, index) => hitShare(bins, fifoCache(bins, capacity * (index + 1)).hit));
    const squares = larger.reduce((sum, share, index) => sum + ((model[index + 1] ?? 0) - share) ** 2, 0);
    return { alpha, bins, capacity, model, squares };
  });
  const best = fits.reduce((least, fit) => (fit.squares < least.squares ? fit : least));

  const edge = fifoCache(best.bins, best.capacity).hit;
  const origin = best.bins.map(({ count, rate }) => ({ count, rate: rate * (1 - edge(rate)) }));
  const [originOnce = 0, originTwice = 0] = inputs.numbers("facebook.originHitShares");
  const originHit = expiring(timeOf(origin, originOnce));
  const originCapacity = sumOver(origin, ({ rate }) => originHit(rate));
  const predicted = hitShare(origin, fifoCache(origin, 2 * originCapacity).hit);
  return {
    alpha: best.alpha,
    capacityShare: best.capacity / photos,
    points: [
      ...published.map((share, index) => ({
        what: `edge cache of ${index + 1}× the size, ${index === 0 ? "fixed" : "fitted"}`,
        published: [share],
        model: best.model[index] ?? 0,
      })),
      {
        what: "edge cache of unlimited size, predicted",
        published: inputs.numbers("facebook.unlimitedHitShares"),
        model: unlimited(best.bins, inputs.number("facebook.warmShare")),
      },
      { what: "origin cache of twice the size, predicted", published: [originTwice], model: predicted },
    ],
  };
}

/** The time after which objects expire in a cache with that hit share. @param {readonly Bin[]} bins @param {number} share */
function timeOf(bins, share) {
  return solve((time) => hitShare(bins, expiring(time)), share);
}

/** The hit share over a trace, after the part of it that warms the cache. @param {readonly Bin[]} bins @param {number} warm */
function unlimited(bins, warm) {
  const parts = Array.from({ length: STEPS }, (_, part) => warm + ((1 - warm) * (part + 0.5)) / STEPS);
  const shares = parts.map((time) => hitShare(bins, seenSince(time)));
  return shares.reduce((sum, share) => sum + share, 0) / STEPS;
}

/** Objects that were read in a time. @param {number} time @returns {Hit} */
function seenSince(time) {
  return (rate) => -Math.expm1(-rate * time);
}

/**
 * The reads of all images, by how they are answered, per second.
 * @typedef {object} Traffic
 * @property {number} reads That reach the CDN.
 * @property {number} fresh Answered by the CDN alone.
 * @property {number} revalidated Answered by a node with 304.
 * @property {number} missed Answered by a node with the image.
 * @property {number} hitShare Of the CDN, fresh or not.
 * @property {(objects: number) => number} memoryShare Of `missed`: found in memory of the nodes that holds so many objects.
 * @property {(share: number) => number} refillSeconds After which an emptied CDN has that share of its hits again.
 * @property {(objects: number) => number} rereadShare Of the reads of nodes: records among the so many last used ones.
 */

/**
 * @param {Inputs} inputs
 * @param {object} of
 * @param {number} of.images
 * @param {number} of.alpha
 * @param {number} of.capacityShare
 * @param {number} of.variants Renditions of an image that are read: sizes × formats.
 * @param {number} of.cacheSeconds
 * @returns {Traffic}
 */
export function trafficOf(inputs, { images, alpha, capacityShare, variants, cacheSeconds }) {
  const locations = inputs.number("cdn.locations");
  const reads = images * inputs.readsPerImage();
  const perImage = zipfBins(images, alpha, reads);
  const bins = divided(perImage, variants);
  const local = bins.map(({ count, rate }) => ({ count, rate: rate / locations }));
  const { time, hit } = fifoCache(local, capacityShare * images);
  const freshOf = expiring(Math.min(time, cacheSeconds));
  const cached = hitShare(local, hit);
  const fresh = hitShare(local, freshOf);
  const missed = bins.map(({ count, rate }) => ({ count, rate: rate * (1 - hit(rate / locations)) }));
  const records = perImage.map(({ count, rate }) => ({
    count,
    rate: rate * (1 - freshOf(rate / variants / locations)),
  }));
  return {
    reads,
    fresh: reads * fresh,
    revalidated: reads * (cached - fresh),
    missed: reads * (1 - cached),
    hitShare: cached,
    memoryShare: (objects) => hitShare(missed, lruCache(missed, objects).hit),
    refillSeconds: (share) => solve((seconds) => hitShare(local, seenSince(seconds)), cached * share),
    rereadShare: (objects) => hitShare(records, lruCache(records, objects).hit),
  };
}
