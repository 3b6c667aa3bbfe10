/** The belief about the choices of organisations before any address of one is known. */
export interface ChoicePrior {
  /** The share of organisations that make each choice; the difference to 1 is the share of choices not listed. */
  shares: ReadonlyMap<string, number>;
  /** The share of each choice among exceptions. @default shares */
  stray?: ReadonlyMap<string, number>;
  /** The probability that an organisation makes one choice, two, three … side by side. */
  several: readonly number[];
  /** Shares of addresses that ignore the choices of their organisation, each with its probability. */
  exceptions: readonly { share: number; probability: number }[];
}

/** An explanation of all addresses: `size` choices, of which these were seen; the other addresses are exceptions. */
interface Explanation {
  chosen: readonly Seen[];
  size: number;
  exceptions: number;
  /** The logarithm of its probability, but for a term that all explanations share. */
  evidence: number;
}
type Seen = readonly [choice: string, count: number];

/** Only the most frequent choices can be choices of the organisation; the others are exceptions. */
const MAX_CHOICES = 6;
/** The share of a choice that is not listed. */
const UNLISTED_SHARE = 0.002;

/**
 * The probability that the next address makes each choice, given how often each was seen: the mean over all
 * explanations. An organisation has a few choices, and all divisions of its addresses among them are equally
 * probable. Exceptions make any choice.
 */
export function posteriorShares(
  prior: ChoicePrior,
  counts: ReadonlyMap<string, number>,
): Map<string, number> {
  const seen = [...counts].filter(([, count]) => count > 0).sort(([, left], [, right]) => right - left);
  const explanations = explanationsOf(prior, seen);
  const highest = Math.max(...explanations.map(({ evidence }) => evidence));
  const weights = explanations.map(({ evidence }) => Math.exp(evidence - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return new Map(prior.shares);
  const predicted = new Map<string, number>();
  let straying = 0;
  for (const [index, { chosen, size, exceptions }] of explanations.entries()) {
    const probability = (weights[index] ?? 0) / total;
    straying += probability * exceptions;
    const regular = (probability * (1 - exceptions)) / (sumOf(chosen) + size);
    for (const [choice, count] of chosen) {
      predicted.set(choice, (predicted.get(choice) ?? 0) + regular * (count + 1));
    }
    const unseen = regular * (size - chosen.length);
    if (unseen > 0) addUnseen(predicted, prior, chosen, unseen);
  }
  const stray = prior.stray ?? prior.shares;
  for (const choice of new Set([...stray.keys(), ...counts.keys()])) {
    predicted.set(choice, (predicted.get(choice) ?? 0) + straying * shareOf(stray, choice));
  }
  return predicted;
}

function explanationsOf(prior: ChoicePrior, seen: readonly Seen[]): Explanation[] {
  const explanations: Explanation[] = [];
  for (const chosen of subsetsOf(seen.slice(0, MAX_CHOICES), prior.several.length)) {
    const regular = sumOf(chosen);
    const others = seen.filter((each) => !chosen.includes(each));
    const fit = chosen.reduce(
      (sum, [choice, count]) => sum + Math.log(shareOf(prior.shares, choice)) + logFactorial(count),
      0,
    );
    const strayFit = others.reduce(
      (sum, [choice, count]) => sum + count * Math.log(shareOf(prior.stray ?? prior.shares, choice)),
      0,
    );
    for (const [index, probability] of prior.several.entries()) {
      const size = index + 1;
      if (size < chosen.length || probability === 0) continue;
      const ways = logFactorial(size) - logFactorial(size - chosen.length);
      const division = logFactorial(size - 1) - logFactorial(regular + size - 1);
      for (const { share, probability: likely } of prior.exceptions) {
        const evidence =
          Math.log(probability * likely) +
          (ways + division + fit + strayFit) +
          logPower(1 - share, regular) +
          logPower(share, sumOf(others));
        if (evidence > -Infinity) explanations.push({ chosen, size, exceptions: share, evidence });
      }
    }
  }
  return explanations;
}

/** Divides the probability of unseen choices by their prior shares. */
function addUnseen(
  predicted: Map<string, number>,
  { shares }: ChoicePrior,
  chosen: readonly Seen[],
  probability: number,
): void {
  const left = 1 - chosen.reduce((sum, [choice]) => sum + (shares.get(choice) ?? 0), 0);
  for (const [choice, share] of shares) {
    if (share <= 0 || chosen.some(([each]) => each === choice)) continue;
    predicted.set(choice, (predicted.get(choice) ?? 0) + (probability * share) / Math.max(left, share));
  }
}

function shareOf(shares: ReadonlyMap<string, number>, choice: string): number {
  return shares.get(choice) ?? UNLISTED_SHARE;
}

function sumOf(seen: readonly Seen[]): number {
  return seen.reduce((sum, [, count]) => sum + count, 0);
}

function subsetsOf<Item>(items: readonly Item[], most: number): Item[][] {
  let subsets: Item[][] = [[]];
  for (const item of items) {
    const smaller = subsets.filter(({ length }) => length < most);
    subsets = [...subsets, ...smaller.map((subset) => [...subset, item])];
  }
  return subsets;
}

function logPower(base: number, exponent: number): number {
  return exponent === 0 ? 0 : exponent * Math.log(base);
}

const LOG_FACTORIALS = [0];

function logFactorial(number: number): number {
  // Stirling's series: from 20 on, its error is below 1e-6.
  if (number > 20) {
    return number * Math.log(number) - number + Math.log(2 * Math.PI * number) / 2 + 1 / (12 * number);
  }
  for (let next = LOG_FACTORIALS.length; next <= number; next += 1) {
    LOG_FACTORIALS[next] = (LOG_FACTORIALS[next - 1] ?? 0) + Math.log(next);
  }
  return LOG_FACTORIALS[number] ?? 0;
}
