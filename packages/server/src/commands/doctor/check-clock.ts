import { type Finding, ok, problem, warning } from "./finding.ts";

const NOTICEABLE_MS = 5_000;
const WRONG_MS = 60_000;
/** A time read from another clock. Unix milliseconds. */
export interface ClockReading {
  /** Time by this machine's clock before and after the reading. */
  beforeMs: number;
  afterMs: number;
  /** Time on the other clock; NaN if it showed none. */
  shownMs: number;
}

/** Whether another clock agrees with this machine's, since images expire by the clock. The largest difference counts. */
export function checkClock(check: string, readings: readonly ClockReading[]): Finding {
  const aheadMs = readings.map(clockAheadBy).reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
  const size = Math.abs(aheadMs);
  const detail = `${(size / 1000).toFixed(0)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  const remedy = "Synchronize both clocks by NTP (timedatectl set-ntp true): images expire by the clock";
  if (size > WRONG_MS) return problem(check, detail, remedy);
  if (size > NOTICEABLE_MS) return warning(check, detail, remedy);
  return ok(check, "equal to this machine's");
}

/** Milliseconds by which the other clock is ahead; negative if it is behind. 0 if the time shown lies between the two readings. */
export function clockAheadBy({ beforeMs, afterMs, shownMs }: ClockReading): number {
  if (Number.isNaN(shownMs)) return 0;
  if (shownMs > afterMs) return shownMs - afterMs;
  return shownMs < beforeMs ? shownMs - beforeMs : 0;
}
