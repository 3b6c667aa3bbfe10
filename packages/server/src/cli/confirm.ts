import { once } from "node:events";
import { createInterface } from "node:readline/promises";

/**
 * Asks a question at the terminal. Anything but yes is a no, the end of the input included.
 * @param input @default The standard input
 * @param output @default The standard error
 */
export async function confirm(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  // Not as a terminal that is edited on: an interruption then ends the process, as it does anywhere else.
  const asked = createInterface({ input, output, terminal: false });
  try {
    const ended = once(asked, "close").then(() => "");
    const answer = await Promise.race([asked.question(question), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    asked.close();
  }
}
