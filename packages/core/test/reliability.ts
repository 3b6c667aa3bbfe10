/** A prediction, and whether it was correct. */
export interface Outcome {
  probability: number;
  isTrue: boolean;
}

/** Predictions from `from` up to 0.1 more. */
export interface ReliabilityBin {
  from: number;
  count: number;
  /** Means of the predicted probabilities and of the observed outcomes. */
  predicted: number;
  observed: number;
}

/** Predicted against observed probability in ten bins of width 0.1; empty bins are omitted. */
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

/** Mean squared difference between predictions and outcomes: 0 is perfect, 0.25 is as good as a coin. */
export function brierScore(outcomes: readonly Outcome[]): number {
  return mean(outcomes.map(({ probability, isTrue }) => (probability - Number(isTrue)) ** 2));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
