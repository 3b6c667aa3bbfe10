import { isServiceError } from "@outrigger/core";
import { normaliseAddress, normaliseDomain } from "@outrigger/core/lookup";
import { serviceReasonOf } from "../../cli/error-reason.ts";
import { printFailure } from "../../cli/print-out.ts";
import { printable } from "../../cli/printable.ts";
import { ConfigError } from "../../config/config-error.ts";

/**
 * The addresses and domains that were typed, normalised, each once.
 * @throws ConfigError naming all that are neither: then nothing is done at all.
 */
export function subjectsOf(texts: readonly string[]): string[] {
  const subjects = texts.map((text) => (text.includes("@") ? normaliseAddress(text) : normaliseDomain(text)));
  const wrong = texts.filter((_, index) => subjects[index] === null);
  if (wrong.length === 0) return [...new Set(subjects.filter((subject) => subject !== null))];
  throw new ConfigError(
    "The command line",
    wrong.map((text) => `${printable(text)}: must be an email address or a domain`),
  );
}

/**
 * Changes one address or domain after the other and prints a line for each. A failure is printed on the standard error and
 * makes the exit code 1; the others are still changed.
 * @param change says what has become of it, and whether that is what was wanted.
 */
export async function changeSubjects(
  subjects: readonly string[],
  change: (subject: string) => Promise<{ said: string; isDone: boolean }>,
): Promise<void> {
  // The reader may have ended: the rest is done all the same.
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
