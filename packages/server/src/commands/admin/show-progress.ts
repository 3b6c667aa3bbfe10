import type { MigrationProgress } from "@outrigger/core";
import { SingleBar } from "cli-progress";
import { sizeText, timeText } from "../../cli/amounts.ts";

/** Shows how far a migration is, on the standard error. */
export interface ProgressView {
  update(progress: Readonly<MigrationProgress>): void;
  close(): void;
}

const LINE_EVERY_MS = 5_000;
const BAR = "{bar} {percentage}% | {value}/{total} keys | {size} | {rate}/s | {left} | {phase}";

const PHASES: Readonly<Record<MigrationProgress["phase"], string>> = {
  counting: "counting",
  records: "records",
  originals: "originals",
  renditions: "renditions",
  comparing: "comparing both sides",
};

/** A bar where somebody looks, lines now and then where a file is written. */
export function showProgress(output: NodeJS.WriteStream = process.stderr): ProgressView {
  return output.isTTY ? showBar(output) : showLines(output);
}

/** What there is to be said besides the numbers. */
function describe({ phase, keys, totalKeys, bytes }: Readonly<MigrationProgress>, beganAt: number) {
  const seconds = Math.max(0.001, (performance.now() - beganAt) / 1000);
  const left =
    keys === 0 || keys >= totalKeys ? "" : `${timeText((seconds / keys) * (totalKeys - keys))} left`;
  return { phase: PHASES[phase], size: sizeText(bytes), rate: sizeText(Math.round(bytes / seconds)), left };
}

function showBar(output: NodeJS.WriteStream): ProgressView {
  const beganAt = performance.now();
  const bar = new SingleBar({
    format: BAR,
    stream: output,
    hideCursor: true,
    gracefulExit: false,
    barsize: 24,
  });
  return {
    update(progress) {
      const said = describe(progress, beganAt);
      // One that was counted while the source grew has fewer than there are.
      const total = Math.max(progress.totalKeys, progress.keys);
      if (!bar.isActive) bar.start(total, progress.keys, said);
      if (bar.getTotal() !== total) bar.setTotal(total);
      bar.update(progress.keys, said);
    },
    close: () => bar.stop(),
  };
}

function showLines(output: NodeJS.WriteStream): ProgressView {
  const beganAt = performance.now();
  let last: Readonly<MigrationProgress> | null = null;
  const timer = setInterval(() => {
    if (last === null) return;
    const { phase, size, rate, left } = describe(last, beganAt);
    const keys = `${last.keys} of ${Math.max(last.totalKeys, last.keys)} keys`;
    output.write(
      `outrigger: ${phase}: ${[keys, size, `${rate}/s`, left].filter((part) => part !== "").join(", ")}\n`,
    );
  }, LINE_EVERY_MS);
  return {
    update(progress) {
      last = progress;
    },
    close: () => clearInterval(timer),
  };
}
