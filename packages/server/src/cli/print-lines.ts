import { once } from "node:events";
import type { Writable } from "node:stream";

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
