import { once } from "node:events";
import { createInterface } from "node:readline/promises";

/**
 * Asks a question at the terminal. Any answer except yes counts as no, including the end of the input.
 * @param input @default The standard input
 * @param output @default The standard error
 */
export async function confirm(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  // Without line editing, so that an interruption ends the process as usual.
  const asked = createInterface({ input, output, terminal: false });
  try {
    const ended = once(asked, "close").then(() => "");
    const answer = await Promise.race([asked.question(question), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    asked.close();
  }
}
