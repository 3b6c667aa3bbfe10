import type { MigrationProgress } from "@outrigger/core";
import { SingleBar } from "cli-progress";
import { sizeText, timeText } from "../../cli/amounts.ts";

const LINE_EVERY_MS = 5_000;
const COPY_BAR = "{bar} {percentage}% | {value}/{total} keys | {size} | {rate}/s | {left} | {phase}";

const PHASES: Readonly<Record<MigrationProgress["phase"], string>> = {
  counting: "counting",
  records: "records",
  originals: "originals",
  renditions: "renditions",
  comparing: "comparing both sides",
};

/** A progress display on standard error. */
export interface ProgressView<Progress> {
  update(progress: Readonly<Progress>): void;
  close(): void;
}

/** The displayed values of a progress. */
export interface Shown {
  value: number;
  total: number;
  /** Placeholders in the format of the bar. */
  fields: Readonly<Record<string, string | number>>;
  /** Parts of the line that replaces a bar; empty parts are omitted. */
  line: readonly string[];
}

/**
 * A bar on a terminal, a line every five seconds elsewhere.
 * @param format Format of the bar; `null` shows lines on a terminal, too.
 * @param shownOf Returns the values to show, given the seconds elapsed.
 */
export function showProgress<Progress>(
  format: string | null,
  shownOf: (progress: Readonly<Progress>, seconds: number) => Shown,
  output: NodeJS.WriteStream = process.stderr,
): ProgressView<Progress> {
  const beganAt = performance.now();
  const shown = (progress: Readonly<Progress>) =>
    shownOf(progress, Math.max(0.001, (performance.now() - beganAt) / 1000));
  return output.isTTY && format !== null ? showBar(format, shown, output) : showLines(shown, output);
}

/** Shows the progress of a copy between storages. */
export function showCopy(output?: NodeJS.WriteStream): ProgressView<MigrationProgress> {
  return showProgress(
    COPY_BAR,
    ({ phase, keys, totalKeys, bytes }, seconds) => {
      const size = sizeText(bytes);
      const rate = sizeText(Math.round(bytes / seconds));
      const left =
        keys === 0 || keys >= totalKeys ? "" : `${timeText((seconds / keys) * (totalKeys - keys))} left`;
      // The source may have grown since its keys were counted.
      const total = Math.max(totalKeys, keys);
      return {
        ...{ value: keys, total, fields: { phase: PHASES[phase], size, rate, left } },
        line: [`${PHASES[phase]}: ${keys} of ${total} keys`, size, `${rate}/s`, left],
      };
    },
    output,
  );
}

function showBar<Progress>(
  format: string,
  shown: (progress: Readonly<Progress>) => Shown,
  stream: NodeJS.WriteStream,
): ProgressView<Progress> {
  const bar = new SingleBar({ format, stream, hideCursor: true, gracefulExit: false, barsize: 24 });
  return {
    update(progress) {
      const { value, total, fields } = shown(progress);
      if (!bar.isActive) bar.start(total, value, fields);
      if (bar.getTotal() !== total) bar.setTotal(total);
      bar.update(value, fields);
    },
    close: () => bar.stop(),
  };
}

function showLines<Progress>(
  shown: (progress: Readonly<Progress>) => Shown,
  output: NodeJS.WriteStream,
): ProgressView<Progress> {
  let last: Readonly<Progress> | null = null;
  const timer = setInterval(() => {
    if (last === null) return;
    const { line } = shown(last);
    output.write(`outrigger: ${line.filter((part) => part !== "").join(", ")}\n`);
  }, LINE_EVERY_MS);
  return {
    update(progress) {
      last = progress;
    },
    close: () => clearInterval(timer),
  };
}
