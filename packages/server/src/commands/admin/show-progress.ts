import type { StorageProgress } from "@outrigger/ops";
import { sizeText, timeText } from "../../cli/amounts.ts";
import { progressLine } from "../../cli/progress-line.ts";

/** Time over which the rate of a copy is the mean: roles differ in their rates. */
const WINDOW_MS = 30_000;

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

/**
 * Shows a progress: one line that changes on a terminal, a line every five seconds elsewhere.
 * @param asJson Writes a line of JSON every five seconds, also to a terminal.
 * @param lineOf Returns the parts of a line, given the seconds elapsed, or the object. Empty parts are omitted.
 */
export function showProgress<Progress>(
  asJson: boolean,
  lineOf: (progress: Readonly<Progress>, seconds: number) => readonly string[] | object,
  output?: NodeJS.WriteStream,
): ProgressView<Progress> {
  const beganAt = performance.now();
  const shown = progressLine(output, asJson);
  const textOf = (progress: Readonly<Progress>) => {
    const line = lineOf(progress, Math.max(0.001, (performance.now() - beganAt) / 1000));
    return Array.isArray(line) ? line.filter((part) => part !== "").join(", ") : JSON.stringify(line);
  };
  return { update: (progress) => shown.update(() => textOf(progress)), close: () => shown.close() };
}

/** Shows the progress of a copy between storages. */
export function showCopy(asJson: boolean, output?: NodeJS.WriteStream): ProgressView<StorageProgress> {
  const rates = createRates();
  return showProgress<StorageProgress>(
    asJson,
    (progress) => {
      const { phase, keys, totalKeys, bytes } = progress;
      const { keysPerSecond, bytesPerSecond } = rates(progress);
      // The source may grow.
      const total = Math.max(totalKeys, keys);
      const secondsLeft = keysPerSecond === 0 ? null : Math.ceil((total - keys) / keysPerSecond);
      const keyRate = Math.round(keysPerSecond);
      const byteRate = Math.round(bytesPerSecond);
      if (asJson) {
        const figures = { keysPerSecond: keyRate, bytesPerSecond: byteRate, secondsLeft };
        return { phase, keys, totalKeys: total, bytes, ...figures };
      }
      const left = secondsLeft === null || secondsLeft === 0 ? "" : `${timeText(secondsLeft)} left`;
      const done = `${PHASES[phase]}: ${keys} of ${total} keys`;
      return [done, sizeText(bytes), `${keyRate} keys/s`, `${sizeText(byteRate)}/s`, left];
    },
    output,
  );
}

/** Measures the rates of a copy over the recent {@link WINDOW_MS}. */
function createRates() {
  const samples = [{ at: performance.now(), keys: 0, bytes: 0 }];
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
