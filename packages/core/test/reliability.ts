/** A prediction, and whether it came true. */
export interface Outcome {
  probability: number;
  isTrue: boolean;
}

/** Predictions from `from` up to a tenth more. */
export interface ReliabilityBin {
  from: number;
  count: number;
  /** Means: of the probabilities, and of what came true. */
  predicted: number;
  observed: number;
}

/** Predicted against observed in ten bins of a tenth each; empty ones are left out. */
export function reliability(outcomes: readonly Outcome[]): ReliabilityBin[] {
  return Array.from({ length: 10 }, (_, index) => {
    const inBin = outcomes.filter(({ probability }) => Math.min(9, Math.floor(probability * 10)) === index);
    return {
      from: index / 10,
      count: inBin.length,
      predicted: mean(inBin.map(({ probability }) => probability)),
      observed: mean(inBin.map(({ isTrue }) => Number(isTrue))),
    };
  }).filter(({ count }) => count > 0);
}

/** Mean squared distance of predictions to what came true: 0 is perfect, 0.25 is what a coin tells. */
export function brierScore(outcomes: readonly Outcome[]): number {
  return mean(outcomes.map(({ probability, isTrue }) => (probability - Number(isTrue)) ** 2));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
