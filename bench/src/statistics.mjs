/**
 * @param {readonly number[]} values
 * @returns {number}
 */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * @param {readonly number[]} values
 * @param {number} share 0 to 1
 * @returns {number} Interpolated between the two nearest values; NaN of none.
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/**
 * Ratios of values measured next to each other.
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 */
export function pairRatios(ours, theirs) {
  return ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
}
