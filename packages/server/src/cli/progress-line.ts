/** A line on standard error that shows the progress of a command. */
export interface ProgressLine {
  /** @param text Called when the text is shown. */
  update(text: () => string): void;
  /** Removes the line from a terminal. */
  close(): void;
}

const LINE_EVERY_MS = 5_000;
const REDRAW_EVERY_MS = 100;
const ERASE_LINE = "\r\u001b[K";

/** One redrawn line in a terminal; elsewhere a new line every five seconds. @param isQuiet Shows nothing. */
export function progressLine(isQuiet = false, output: NodeJS.WriteStream = process.stderr): ProgressLine {
  const isTerminal = output.isTTY === true;
  let shown: string | null = null;
  let latest: (() => string) | null = null;
  const show = () => {
    const text = latest?.() ?? null;
    if (text === shown || text === null || isQuiet) return;
    shown = text;
    const line = `outrigger: ${text}`;
    // A longer line would wrap, and could not be erased.
    output.write(isTerminal ? ERASE_LINE + line.slice(0, output.columns) : `${line}\n`);
  };
  const timer = setInterval(show, isTerminal ? REDRAW_EVERY_MS : LINE_EVERY_MS);
  return {
    update(text) {
      latest = text;
    },
    close() {
      clearInterval(timer);
      if (isTerminal && shown !== null) output.write(ERASE_LINE);
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
