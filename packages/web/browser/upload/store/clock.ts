import { signal } from "@preact/signals";
import { serverNow } from "../../saved/server-clock.ts";

const HALF_MINUTE_MS = 30_000;

/** Unix time of the service, for its dates. Components that read it rerender. */
export const everyHalfMinute = signal(0);

/** Call it once the clock of the service is known. */
export function startClock(): void {
  const tick = () => {
    everyHalfMinute.value = serverNow();
  };
  tick();
  setInterval(tick, HALF_MINUTE_MS);
}
