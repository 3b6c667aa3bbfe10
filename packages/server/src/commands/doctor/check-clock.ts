import { type Finding, ok, problem, warning } from "./finding.ts";

const NOTICEABLE_MS = 5_000;
const WRONG_MS = 60_000;
/** A time that another clock showed. Unix milliseconds. */
export interface ClockReading {
  /** By this machine's clock, before and after it was shown. */
  beforeMs: number;
  afterMs: number;
  /** Not a number: none was shown. */
  shownMs: number;
}

/** Whether another clock shows what this machine's does: images expire by it. The largest difference counts. */
export function checkClock(check: string, readings: readonly ClockReading[]): Finding {
  const aheadMs = readings.map(clockAheadBy).reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
  const size = Math.abs(aheadMs);
  const detail = `${(size / 1000).toFixed(0)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  const remedy = "Have both set by NTP (timedatectl set-ntp true): images expire by it";
  if (size > WRONG_MS) return problem(check, detail, remedy);
  if (size > NOTICEABLE_MS) return warning(check, detail, remedy);
  return ok(check, "as this machine's");
}

/** 0 where the time shown may have been now at some time in between. Milliseconds, negative: it is behind. */
export function clockAheadBy({ beforeMs, afterMs, shownMs }: ClockReading): number {
  if (Number.isNaN(shownMs)) return 0;
  if (shownMs > afterMs) return shownMs - afterMs;
  return shownMs < beforeMs ? shownMs - beforeMs : 0;
}
