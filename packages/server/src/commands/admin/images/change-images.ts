import { isServiceError } from "@outrigger/core";

/**
 * Does one thing to each image after the other, with a line for each. What fails is told on the standard error, makes the
 * exit code 1, and does not keep the others from being done.
 * @param done What has become of an image then, e.g. `withheld`.
 */
export async function changeImages(
  ids: readonly string[],
  done: string,
  change: (id: string) => Promise<void>,
): Promise<void> {
  // Nobody may be reading any more: no reason to leave the rest undone.
  process.stdout.on("error", () => {});
  for (const id of ids) {
    try {
      await change(id);
      process.stdout.write(`${id} ${done}\n`);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      process.stderr.write(`outrigger: ${id}: ${error.message}\n`);
      process.exitCode = 1;
    }
  }
}
