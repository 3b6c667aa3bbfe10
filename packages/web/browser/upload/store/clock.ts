import { computed, type ReadonlySignal, signal } from "@preact/signals";

/** The current Unix time in milliseconds, as signals: components that read them rerender. */
export interface Clock {
  everySecond: ReadonlySignal<number>;
  everyHalfMinute: ReadonlySignal<number>;
}

const HALF_MINUTE_MS = 30_000;

export function createClock(): Clock {
  const everySecond = signal(Date.now());
  setInterval(() => {
    everySecond.value = Date.now();
  }, 1000);
  const halfMinutes = computed(() => Math.floor(everySecond.value / HALF_MINUTE_MS));
  const everyHalfMinute = computed(() => {
    void halfMinutes.value;
    return Date.now();
  });
  return { everySecond, everyHalfMinute };
}
