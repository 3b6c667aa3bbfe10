/** A duration in the largest fitting unit, rounded up: `42 s`, `3 min`, `2.5 h`. */
export function timeText(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  if (seconds < 100 * 60) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.ceil(seconds / 360) / 10} h`;
}

/** `2026-01-02 03:04` in UTC. */
export function minuteText(ms: number): string {
  return isoText(ms).slice(0, 16).replace("T", " ");
}

/** `2026-01-02T03:04:05.678Z` */
export function isoText(ms: number): string {
  return new Date(ms).toISOString();
}
