import { isServiceError } from "@outrigger/core";
import { normaliseDomain } from "@outrigger/core/lookup";
import { normaliseAddress } from "@outrigger/core/values";
import { serviceReasonOf } from "../../cli/error-reason.ts";
import { printable, printFailure } from "../../cli/print.ts";
import { usageError } from "../../config/config-error.ts";

/**
 * The addresses and domains as typed, normalised, each once.
 * @throws ConfigError that names all invalid ones.
 */
export function subjectsOf(texts: readonly string[]): string[] {
  const subjects = texts.map((text) => (text.includes("@") ? normaliseAddress(text) : normaliseDomain(text)));
  const wrong = texts.filter((_, index) => subjects[index] === null);
  if (wrong.length === 0) return [...new Set(subjects.filter((subject) => subject !== null))];
  throw usageError(...wrong.map((text) => `${printable(text)}: must be an email address or a domain`));
}

/**
 * Changes addresses and domains one by one and prints a line for each. Prints a failure on standard error, sets the exit
 * code to 1, and continues with the others.
 * @param change Returns the text to print, and whether the change succeeded.
 */
export async function changeSubjects(
  subjects: readonly string[],
  change: (subject: string) => Promise<{ said: string; isDone: boolean }>,
): Promise<void> {
  // If the reader has ended, the remaining ones are still changed.
  process.stdout.on("error", () => {});
  for (const subject of subjects) {
    try {
      const { said, isDone } = await change(subject);
      if (isDone) process.stdout.write(`${subject} ${said}\n`);
      else printFailure(`${subject}: ${said}`);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      printFailure(`${subject}: ${serviceReasonOf(error)}`);
    }
  }
}
