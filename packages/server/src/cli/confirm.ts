import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { usageError } from "../config/config-error.ts";
import { printFailure } from "./print.ts";

/** Rejects a command that must be confirmed if there is no terminal. @param yes Whether `--yes` is given. @throws ConfigError */
export function requireAnswer(yes: boolean): void {
  if (yes || process.stdin.isTTY) return;
  throw usageError("--yes: is required without a terminal");
}

/**
 * Asks at the terminal unless `yes` is given. Any answer except yes counts as no, including the end of the input: then it prints
 * that nothing was done and sets the exit code to 1.
 */
export async function mayProceed(yes: boolean, question: string): Promise<boolean> {
  if (yes || (await confirm(question))) return true;
  printFailure("nothing was changed");
  return false;
}

/**
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
    const answer = await Promise.race([asked.question(`${question} [y/N] `), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    asked.close();
  }
}
