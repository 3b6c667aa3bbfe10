import type { MigrationReport, StorageTrouble } from "@outrigger/ops";
import { sizeText, timeText } from "../../../cli/amounts.ts";
import { printable } from "../../../cli/printable.ts";

/** Prints the result of a migration. */
export function printReport(report: MigrationReport, ms: number, advice: string, json: boolean): void {
  // If the reader has ended, the exit code still reports failures.
  process.stdout.on("error", () => {});
  printTroubles("damaged at the source", report.damaged);
  printTroubles("not copied", report.failed);
  if (report.damaged.length > 0) {
    process.stderr.write(
      `outrigger: ${report.damaged.length} damaged at the source and copied unchanged: see outrigger images verify\n`,
    );
  }
  const { isComplete, keys } = report;
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...report, ms: Math.round(ms), pins: advice })}\n`);
    return;
  }
  process.stdout.write(summaryOf(report, ms));
  if (isComplete) {
    process.stdout.write(`Both sides have the same ${keys.to} keys.\n${advice}\n`);
    return;
  }
  const why =
    report.failed.length > 0
      ? "some keys could not be copied"
      : `the source has ${keys.from} keys, the target ${keys.to}: the source is changing. Stop the processes that use it`;
  process.stderr.write(
    `outrigger: The target is incomplete, and no server starts on it: ${why}, and run this again\n`,
  );
}

function summaryOf({ images, copied, bytes, unchanged, removed }: MigrationReport, ms: number): string {
  const seconds = Math.max(0.001, ms / 1000);
  const done = `${copied} keys copied (${sizeText(bytes)}), ${unchanged} unchanged, ${removed} removed`;
  const rate = `${Math.round(images / seconds)} images/s, ${sizeText(Math.round(bytes / seconds))}/s`;
  return `${images} images: ${done}, in ${timeText(seconds)} (${rate}).\n`;
}

export function printTroubles(what: string, troubles: readonly StorageTrouble[]): void {
  for (const { key, reason } of troubles) {
    process.stderr.write(`outrigger: ${what}: ${printable(key)}: ${printable(reason)}\n`);
  }
}
