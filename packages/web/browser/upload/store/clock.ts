import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { serverNow } from "../../saved/server-clock.ts";

/** Unix times in milliseconds, as signals: components that read them rerender. */
export interface Clock {
  /** By this device, for its own waits. */
  everySecond: ReadonlySignal<number>;
  /** By the service, for its dates. */
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
    return serverNow();
  });
  return { everySecond, everyHalfMinute };
}
