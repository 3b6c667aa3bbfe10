import { reasonOf } from "./error-reason.ts";
import { printable } from "./printable.ts";

/**
 * Writes to the standard output. A reader that has ended, such as `head`, does not keep the rest from being done. Any other
 * failure is printed on the standard error and makes the exit code 1.
 */
export function printOut(text: string): void {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", onError);
  process.stdout.write(text);
}

function onError(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") printFailure(`The standard output cannot be written: ${reasonOf(error)}`);
}

/** Says on the standard error what failed, and makes the exit code 1. */
export function printFailure(message: string): void {
  process.stderr.write(`outrigger: ${message}\n`);
  process.exitCode = 1;
}

/** Anything of the API as one line of JSON. */
export function jsonText(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`;
}

/** Lines of `Label  value`, the values below each other; those without a value are left out. */
export function labelledLines(values: Readonly<Record<string, string | null>>): string {
  const shown = Object.entries(values).filter(([, value]) => value !== null);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${value}\n`).join("");
}
