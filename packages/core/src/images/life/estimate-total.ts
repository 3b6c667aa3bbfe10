/** A sum over all parts of something, estimated from a few of them. */
export interface Estimate {
  value: number;
  /** Half the width of the interval that holds the true sum with a confidence of 95 %. */
  margin: number;
}

/**
 * Estimates a sum from parts that were drawn at random, without replacement: the mean of the parts times their number, with
 * a margin by Student's distribution (Cochran, Sampling Techniques, 2.6 to 2.9).
 * @param read the sums of the parts that were drawn, two at least.
 * @param parts how many parts there are.
 */
export function estimateTotal(read: readonly number[], parts: number): Estimate {
  const drawn = read.length;
  const mean = total(read) / drawn;
  const variance = total(read.map((each) => (each - mean) ** 2)) / (drawn - 1);
  const unread = Math.max(0, 1 - drawn / parts);
  return {
    value: mean * parts,
    margin: studentQuantile(drawn - 1) * parts * Math.sqrt((variance / drawn) * unread),
  };
}

/**
 * As {@link estimateTotal} for numbers of things. Of rare things a sample may hold none, and their variance then reads 0:
 * the margin is at least that of a Poisson distribution, three where none was found.
 */
export function estimateCount(read: readonly number[], parts: number): Estimate {
  const { value, margin } = estimateTotal(read, parts);
  const share = read.length / parts;
  const poisson = (NORMAL_QUANTILE * Math.sqrt(total(read) + 1) + 1) / share;
  return { value: Math.round(value), margin: Math.ceil(Math.max(margin, poisson * Math.sqrt(1 - share))) };
}

/** Of the normal distribution, for 95 % in the middle. */
const NORMAL_QUANTILE = 1.96;

/** Of Student's distribution with so many degrees of freedom, for 95 % in the middle; within 1 % from three on. */
function studentQuantile(freedom: number): number {
  return NORMAL_QUANTILE + 2.37 / freedom + 2.8 / freedom ** 2;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
