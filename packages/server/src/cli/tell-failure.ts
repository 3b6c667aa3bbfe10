/** Says on the standard error what failed, and makes the exit code 1. */
export function tellFailure(message: string): void {
  process.stderr.write(`outrigger: ${message}\n`);
  process.exitCode = 1;
}
