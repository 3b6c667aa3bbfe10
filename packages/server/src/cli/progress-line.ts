/** A line on standard error that shows the progress of a command in a terminal. */
export interface ProgressLine {
  /** @param text Called when the text is shown. */
  update(text: () => string): void;
  /** Erases the line until its next update, so that other lines can be printed. */
  hide(): void;
  /** Removes the line. */
  close(): void;
}

const REDRAW_EVERY_MS = 100;
const ERASE_LINE = "\r\u001b[K";

/** A redrawn line. Elsewhere than in a terminal nothing is shown. */
export function progressLine(output: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (output.isTTY !== true || process.env.TERM === "dumb") return { update() {}, hide() {}, close() {} };
  let shown: string | null = null;
  let latest: (() => string) | null = null;
  const timer = setInterval(() => {
    const text = latest?.() ?? null;
    if (text === shown || text === null) return;
    shown = text;
    // A longer line would wrap, and could not be erased.
    output.write(ERASE_LINE + `outrigger: ${text}`.slice(0, output.columns || undefined));
  }, REDRAW_EVERY_MS);
  return {
    update(text) {
      latest = text;
    },
    hide() {
      if (shown !== null) output.write(ERASE_LINE);
      shown = null;
    },
    close() {
      clearInterval(timer);
      if (shown !== null) output.write(ERASE_LINE);
    },
  };
}

/** Seconds since `beganAt` (from `performance.now()`), at least one millisecond. */
export function secondsSince(beganAt: number): number {
  return Math.max(0.001, (performance.now() - beganAt) / 1000);
}

/** The average number per second since `beganAt`. */
export function rateText(count: number, beganAt: number): string {
  return `${Math.round(count / secondsSince(beganAt))} a second`;
}
