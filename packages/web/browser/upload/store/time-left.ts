import { effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Clock } from "./clock.ts";
import type { Totals } from "./totals.ts";

/** How much was sent at a time. */
export interface Sample {
  /** Unix time, milliseconds. */
  atMs: number;
  sentBytes: number;
}

const SHORTEST_MS = 2000;
const WINDOW_MS = 20_000;

/**
 * The time left at the mean rate of the samples, milliseconds; `null` while the samples span less than 2 s or nothing
 * was sent between them.
 */
export function timeLeftOf(samples: readonly Sample[], wantedBytes: number): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return null;
  const sent = last.sentBytes - first.sentBytes;
  const spanMs = last.atMs - first.atMs;
  if (spanMs < SHORTEST_MS || sent <= 0) return null;
  return ((wantedBytes - last.sentBytes) * spanMs) / sent;
}

/** The samples of the last 20 s, with a new one. A total that shrank, after a cancelled or repeated upload, starts anew. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1);
  const recent = samples.filter(({ atMs }) => sample.atMs - atMs <= WINDOW_MS);
  return last !== undefined && last.sentBytes > sample.sentBytes ? [sample] : [...recent, sample];
}

/** The time left of the active uploads, updated every second; `null` when unknown. */
export function createTimeLeft(totals: ReadonlySignal<Totals>, clock: Clock): ReadonlySignal<number | null> {
  const left = signal<number | null>(null);
  let samples: readonly Sample[] = [];
  effect(() => {
    const atMs = clock.everySecond.value;
    const { active, sentBytes, wantedBytes } = totals.peek();
    samples = active === 0 ? [] : withSample(samples, { atMs, sentBytes });
    left.value = timeLeftOf(samples, wantedBytes);
  });
  return left;
}
