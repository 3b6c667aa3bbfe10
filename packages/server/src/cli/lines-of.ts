import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { usageError } from "../config/config-error.ts";
import { fileReasonOf } from "./error-reason.ts";
import { printable } from "./print.ts";

/**
 * The lines of a file that are not blank, without a byte order mark, and their numbers from 1.
 * @param path `-`: the standard input. @param option Names the file in the error. @throws ConfigError if it cannot be read.
 */
export async function* linesOf(
  path: string,
  option: string,
): AsyncGenerator<{ line: string; number: number }> {
  const input = path === "-" ? process.stdin : createReadStream(path);
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      if (line.trim() !== "") yield { line: line.replace(/^\uFEFF/, ""), number };
    }
  } catch (error) {
    throw usageError(`${option}: ${printable(path)} cannot be read: ${fileReasonOf(error)}`);
  }
}
