import type { GaugeName, Observer, Operation, ServedFrom } from "../src/contracts/observer.ts";

/** An observer that records operations. */
export interface RecordingObserver extends Observer {
  /** Ended operations in order of their end; `threw` stands for any rejection. */
  readonly ended: { operation: Operation; outcome: string }[];
  readonly from: ServedFrom[];
  readonly gauges: ReadonlyMap<GaugeName, () => number>;
}

export function createRecordingObserver(): RecordingObserver {
  const ended: RecordingObserver["ended"] = [];
  const from: ServedFrom[] = [];
  const gauges = new Map<GaugeName, () => number>();
  return {
    ended,
    from,
    gauges,
    async observe(operation, work, outcomeOf = () => "ok") {
      let outcome = "threw";
      try {
        const result = await work();
        outcome = outcomeOf(result);
        return result;
      } finally {
        ended.push({ operation, outcome });
      }
    },
    served: (where) => void from.push(where),
    gauge(name, read) {
      gauges.set(name, read);
      return () => void gauges.delete(name);
    },
  };
}
