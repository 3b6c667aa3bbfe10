import { computed, type ReadonlySignal, signal } from "@preact/signals";

/** Unix time in milliseconds that moves on; what reads it is shown anew. */
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
