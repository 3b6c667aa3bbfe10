/** A line that shows the progress of a command. */
export interface ProgressLine {
  update(text: string): void;
  /** Removes the line from a terminal. */
  close(): void;
}

const LINE_EVERY_MS = 5_000;
const REDRAW_EVERY_MS = 100;
const ERASE_LINE = "\r\u001b[K";

/** One redrawn line in a terminal; elsewhere a new line every five seconds. */
export function progressLine(output: NodeJS.WriteStream = process.stderr): ProgressLine {
  const isTerminal = output.isTTY === true;
  let shown: string | null = null;
  let latest: string | null = null;
  const show = () => {
    if (latest === shown || latest === null) return;
    shown = latest;
    output.write(isTerminal ? `${ERASE_LINE}outrigger: ${shown}` : `outrigger: ${shown}\n`);
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

/** The average number per second since `beganAt` (from `performance.now()`). */
export function rateText(count: number, beganAt: number): string {
  const seconds = Math.max(0.001, (performance.now() - beganAt) / 1000);
  return `${Math.round(count / seconds)} a second`;
}
