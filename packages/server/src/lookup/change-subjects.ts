import { isServiceError } from "@outrigger/core";
import { whyUnusable } from "./lookup-error.ts";

/**
 * Does one thing to each address or domain after the other, with a line for each. What fails is told on the standard error,
 * makes the exit code 1, and does not keep the others from being done.
 * @param change says what has become of it, and whether that is what was wanted.
 */
export async function changeSubjects(
  subjects: readonly string[],
  change: (subject: string) => Promise<{ said: string; isDone: boolean }>,
): Promise<void> {
  // Nobody may be reading any more: no reason to leave the rest undone.
  process.stdout.on("error", () => {});
  for (const subject of subjects) {
    try {
      const { said, isDone } = await change(subject);
      if (isDone) process.stdout.write(`${subject} ${said}\n`);
      else fail(subject, said);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      fail(subject, whyUnusable(error));
    }
  }
}

function fail(subject: string, why: string): void {
  process.stderr.write(`outrigger: ${subject}: ${why}\n`);
  process.exitCode = 1;
}
