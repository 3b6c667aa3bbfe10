import { reasonOf } from "./error-reason.ts";
import { printable } from "./printable.ts";

/**
 * Writes to standard output. If the reader has ended, as `head` does, the command continues. Any other failure is printed on
 * standard error and sets the exit code to 1.
 */
export function printOut(text: string): void {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", onError);
  process.stdout.write(text);
}

function onError(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") printFailure(`Standard output cannot be written: ${reasonOf(error)}`);
}

/** Prints a failure on standard error and sets the exit code to 1. */
export function printFailure(message: string): void {
  process.stderr.write(`outrigger: ${message}\n`);
  process.exitCode = 1;
}

/** A value as one line of JSON. */
export function jsonText(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`;
}

/** Lines of `Label  value` with aligned values; entries without a value are omitted. */
export function labelledLines(values: Readonly<Record<string, string | null>>): string {
  const shown = Object.entries(values).filter(([, value]) => value !== null);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${value}\n`).join("");
}
