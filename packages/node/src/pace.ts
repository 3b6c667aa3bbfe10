/** How long a sender may take to get going before its rate counts. */
const GRACE_MS = 30_000;

/** Measures the average rate of a body that somebody sends us. */
export interface Pace {
  /** Counts bytes that arrived now. @returns Whether the sender is fast enough. */
  add(bytes: number): boolean;
  /** From here to `resume` it is us who keep the sender waiting: the time does not count. */
  pause(): void;
  resume(): void;
}

/**
 * The average over the whole body, from its first byte on, is looked at once that is {@link GRACE_MS} ago, and whenever
 * bytes arrive: silence is for somebody else to end.
 *
 * @param minBytesPerSecond 0: every rate is fast enough.
 */
export function createPace(minBytesPerSecond: number): Pace {
  let total = 0;
  let beganAt: number | undefined;
  let pausedAt: number | undefined;
  let pausedMs = 0;
  return {
    add(bytes) {
      const now = performance.now();
      total += bytes;
      beganAt ??= now;
      const elapsedMs = now - beganAt - pausedMs;
      return elapsedMs <= GRACE_MS || total * 1000 >= minBytesPerSecond * elapsedMs;
    },
    pause() {
      pausedAt ??= performance.now();
    },
    resume() {
      if (pausedAt !== undefined) pausedMs += performance.now() - pausedAt;
      pausedAt = undefined;
    },
  };
}
