/** A line that shows the progress of a command. */
export interface ProgressLine {
  /** @param text The text, or a function that is called when the text is shown. */
  update(text: string | (() => string)): void;
  /** Removes the line from a terminal. */
  close(): void;
}

const LINE_EVERY_MS = 5_000;
const REDRAW_EVERY_MS = 100;
const ERASE_LINE = "\r\u001b[K";

/**
 * One redrawn line in a terminal; elsewhere a new line every five seconds.
 * @param isPlain Writes only the texts, as lines on a terminal too.
 */
export function progressLine(output: NodeJS.WriteStream = process.stderr, isPlain = false): ProgressLine {
  const isTerminal = output.isTTY === true && !isPlain;
  let shown: string | null = null;
  let latest: string | (() => string) | null = null;
  const show = () => {
    const text = typeof latest === "function" ? latest() : latest;
    if (text === shown || text === null) return;
    shown = text;
    const line = isPlain ? text : `outrigger: ${text}`;
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

/** The average number per second since `beganAt` (from `performance.now()`). */
export function rateText(count: number, beganAt: number): string {
  const seconds = Math.max(0.001, (performance.now() - beganAt) / 1000);
  return `${Math.round(count / seconds)} a second`;
}
