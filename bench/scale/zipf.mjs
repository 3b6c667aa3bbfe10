/**
 * Objects that are read equally often.
 * @typedef {object} Bin
 * @property {number} count
 * @property {number} rate Reads of each per second.
 */

/** Ranks that have a bin of their own; the bins of further ranks grow by {@link GROWTH}. */
const EXACT_RANKS = 200;
const GROWTH = 1.05;
const HALVINGS = 60;

/**
 * Reads by Zipf's law: those of rank i are proportional to i^−alpha. Sums over ranks are integrals, so a billion objects
 * take as long as a thousand.
 * @param {number} count Of the objects.
 * @param {number} alpha
 * @param {number} perSecond All reads.
 * @returns {Bin[]}
 */
export function zipfBins(count, alpha, perSecond) {
  const power = (/** @type {number} */ rank) =>
    alpha === 1 ? Math.log(rank) : rank ** (1 - alpha) / (1 - alpha);
  /** @type {{ count: number, weight: number }[]} */
  const bins = [];
  for (let from = 1; from <= count; ) {
    const to = from < EXACT_RANKS ? from + 1 : Math.min(count + 1, Math.ceil(from * GROWTH));
    const sum = to === from + 1 ? from ** -alpha : power(to - 0.5) - power(from - 0.5);
    bins.push({ count: to - from, weight: sum / (to - from) });
    from = to;
  }
  const all = bins.reduce((sum, bin) => sum + bin.count * bin.weight, 0);
  return bins.map((bin) => ({ count: bin.count, rate: (perSecond * bin.weight) / all }));
}

/**
 * Each object in so many variants, which are read equally often.
 * @param {readonly Bin[]} bins @param {number} variants
 */
export function divided(bins, variants) {
  return bins.map(({ count, rate }) => ({ count: count * variants, rate: rate / variants }));
}

/** @param {readonly Bin[]} bins @param {(bin: Bin) => number} of */
export function sumOver(bins, of) {
  return bins.reduce((sum, bin) => sum + bin.count * of(bin), 0);
}

/** The share of reads for which `hit` is the probability of a hit. @param {readonly Bin[]} bins @param {Hit} hit */
export function hitShare(bins, hit) {
  return sumOver(bins, (bin) => bin.rate * hit(bin.rate)) / sumOver(bins, (bin) => bin.rate);
}

/** The probability that an object which is read so often is cached. @typedef {(rate: number) => number} Hit */

/**
 * A cache that evicts the object which was not used for the longest time: Che, Tung and Wang 2002. An object stays for the
 * characteristic time after its last use.
 * @param {readonly Bin[]} bins @param {number} capacity In objects.
 */
export function lruCache(bins, capacity) {
  return cacheOf(bins, capacity, (time) => (rate) => -Math.expm1(-rate * time));
}

/**
 * A cache that evicts the object which was stored first, in the same approximation: Fricker, Robert and Roberts 2012. It
 * also describes a cache whose objects expire that time after they were stored.
 * @param {readonly Bin[]} bins @param {number} capacity In objects.
 */
export function fifoCache(bins, capacity) {
  return cacheOf(bins, capacity, expiring);
}

/** Objects are used for `time` seconds after they were fetched. @param {number} time @returns {Hit} */
export function expiring(time) {
  return (rate) => (rate * time) / (1 + rate * time);
}

/**
 * @param {readonly Bin[]} bins
 * @param {number} capacity
 * @param {(time: number) => Hit} hitAfter
 * @returns {{ time: number, hit: Hit }} `time`: the characteristic time in seconds.
 */
function cacheOf(bins, capacity, hitAfter) {
  if (capacity >= sumOver(bins, () => 1)) return { time: Number.POSITIVE_INFINITY, hit: () => 1 };
  const time = solve((time) => sumOver(bins, (bin) => hitAfter(time)(bin.rate)), capacity);
  return { time, hit: hitAfter(time) };
}

/**
 * Where a rising function of a positive number has a value.
 * @param {(x: number) => number} rising @param {number} value
 */
export function solve(rising, value) {
  let [low, high] = [1e-12, 1e18];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = Math.sqrt(low * high);
    if (rising(middle) < value) low = middle;
    else high = middle;
  }
  return Math.sqrt(low * high);
}
