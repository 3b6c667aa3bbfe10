import type { StorageProgress } from "@outrigger/ops";
import { SingleBar } from "cli-progress";
import { sizeText, timeText } from "../../cli/amounts.ts";

const LINE_EVERY_MS = 5_000;
/** Time over which the rate of a copy is the mean: roles differ in their rates. */
const WINDOW_MS = 30_000;
const COPY_BAR =
  "{bar} {percentage}% | {value}/{total} keys | {size} | {keyRate} keys/s | {rate}/s | {left} | {phase}";

const PHASES: Readonly<Record<StorageProgress["phase"], string>> = {
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
  /** Parts of the line that replaces a bar; empty parts are omitted. An object is written as a line of JSON. */
  line: readonly string[] | object;
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

/**
 * Shows the progress of a copy between storages.
 * @param asJson Writes lines of JSON instead of a bar or text.
 */
export function showCopy(asJson: boolean, output?: NodeJS.WriteStream): ProgressView<StorageProgress> {
  const rates = createRates();
  return showProgress(asJson ? null : COPY_BAR, shownOf, output);

  function shownOf(progress: Readonly<StorageProgress>): Shown {
    const { phase, keys, totalKeys, bytes } = progress;
    const { keysPerSecond, bytesPerSecond } = rates(progress);
    // The total is estimated, and the source may grow.
    const total = Math.max(totalKeys, keys);
    const secondsLeft = keysPerSecond === 0 ? null : Math.ceil((total - keys) / keysPerSecond);
    const size = sizeText(bytes);
    const keyRate = Math.round(keysPerSecond);
    const rate = sizeText(Math.round(bytesPerSecond));
    const left = secondsLeft === null || secondsLeft === 0 ? "" : `${timeText(secondsLeft)} left`;
    const figures = { keysPerSecond: keyRate, bytesPerSecond: Math.round(bytesPerSecond), secondsLeft };
    return {
      ...{ value: keys, total, fields: { phase: PHASES[phase], size, keyRate, rate, left } },
      line: asJson
        ? { phase, keys, totalKeys: total, bytes, ...figures }
        : [`${PHASES[phase]}: ${keys} of ${total} keys`, size, `${keyRate} keys/s`, `${rate}/s`, left],
    };
  }
}

/** Measures the rates of a copy over the recent {@link WINDOW_MS}. */
function createRates() {
  const samples: { at: number; keys: number; bytes: number }[] = [
    { at: performance.now(), keys: 0, bytes: 0 },
  ];
  return ({ keys, bytes }: Readonly<StorageProgress>) => {
    const now = { at: performance.now(), keys, bytes };
    // One sample a second bounds their number.
    if (now.at - (samples.at(-1)?.at ?? 0) >= 1000) samples.push(now);
    while ((samples[1]?.at ?? now.at) < now.at - WINDOW_MS) samples.shift();
    const [first = now] = samples;
    const seconds = Math.max(0.001, (now.at - first.at) / 1000);
    return {
      keysPerSecond: (keys - first.keys) / seconds,
      bytesPerSecond: (bytes - first.bytes) / seconds,
    };
  };
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
    const text = Array.isArray(line) ? `outrigger: ${line.filter((part) => part !== "").join(", ")}` : null;
    output.write(`${text ?? JSON.stringify(line)}\n`);
  }, LINE_EVERY_MS);
  return {
    update(progress) {
      last = progress;
    },
    close: () => clearInterval(timer),
  };
}
