import { computed, signal } from "@preact/signals";
import { serverNow } from "../../saved/server-clock.ts";

/** Unix time of this device in milliseconds, for the page's own waits. Components that read it rerender. */
export const everySecond = signal(Date.now());

const HALF_MINUTE_MS = 30_000;
const halfMinutes = computed(() => Math.floor(everySecond.value / HALF_MINUTE_MS));

/** Unix time of the service, for its dates. */
export const everyHalfMinute = computed(() => {
  void halfMinutes.value;
  return serverNow();
});

export function startClock(): void {
  setInterval(() => {
    everySecond.value = Date.now();
  }, 1000);
}
