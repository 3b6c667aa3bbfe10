import { once } from "node:events";
import type { Writable } from "node:stream";
import { reasonOf } from "./error-reason.ts";

/** Characters that a terminal may interpret: controls, line breaks, and bidirectional marks. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Escapes untrusted text for a terminal, e.g. an escape character as `\u001b`. JSON keeps its meaning. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** A value as one line of JSON. */
export function jsonText(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`;
}

/**
 * Writes to standard output. If the reader has ended, as `head` does, the command continues. Any other failure is printed on
 * standard error and sets the exit code to 1.
 */
export function printOut(text: string): void {
  if (process.stdout.listenerCount("error") === 0) {
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") printFailure(`Standard output cannot be written: ${reasonOf(error)}`);
    });
  }
  process.stdout.write(text);
}

/** Writes a sentence to standard error. */
export function note(text: string): void {
  process.stderr.write(`outrigger: ${text}\n`);
}

/** Prints a failure on standard error and sets the exit code to 1. */
export function printFailure(message: string): void {
  note(message);
  process.exitCode = 1;
}

/** A row of a table with fixed widths, so that rows can be printed as they are read. A negative width aligns to the right. */
export function tableRow(columns: readonly string[], widths: readonly number[]): string {
  const padded = columns.map((text, at) => {
    const width = widths[at] ?? 0;
    return width < 0 ? text.padStart(-width) : text.padEnd(width);
  });
  return `${padded.join("  ").trimEnd()}\n`;
}

/**
 * Writes lines with backpressure, so that memory stays flat. Resolves early if the reader ends, as `head` does. Rejects if the
 * output fails otherwise.
 */
export async function printLines(
  lines: AsyncIterable<string>,
  output: Writable = process.stdout,
): Promise<void> {
  const failures: NodeJS.ErrnoException[] = [];
  output.on("error", (error) => failures.push(error));
  for await (const line of lines) {
    if (failures.length > 0) break;
    // The failure is in `failures`.
    if (!output.write(line)) await once(output, "drain").catch(() => undefined);
  }
  // A failed write emits its error only after the writes before it.
  await new Promise<void>((resolve) => output.write("", () => resolve()));
  const [failure] = failures;
  if (failure !== undefined && failure.code !== "EPIPE") throw failure;
}
