import type { ImportProgress } from "@outrigger/sql";
import { SingleBar } from "cli-progress";
import { sizeText, timeText } from "../../../cli/amounts.ts";
import type { Input } from "./open-input.ts";

/** Shows how far an import is, on the standard error. */
export interface ImportView {
  update(progress: Readonly<ImportProgress>): void;
  close(): void;
}

const LINE_EVERY_MS = 5000;
const BAR = "{bar} {percentage}% | {size} of {all} | {lines} lines | {rate} lines/s | {left}";

/** A bar where somebody looks and the length of the input is known, lines now and then elsewhere. */
export function showImport(input: Input, output: NodeJS.WriteStream = process.stderr): ImportView {
  const { totalBytes } = input;
  return output.isTTY && totalBytes !== null && totalBytes > 0
    ? showBar(input, totalBytes, output)
    : showLines(input, output);
}

function describe({ totalBytes, readBytes }: Input, { lines }: Readonly<ImportProgress>, beganAt: number) {
  const seconds = Math.max(0.001, (performance.now() - beganAt) / 1000);
  const read = readBytes();
  const leftBytes = totalBytes === null ? 0 : totalBytes - read;
  return {
    lines,
    size: sizeText(read),
    all: sizeText(totalBytes ?? read),
    rate: Math.round(lines / seconds),
    left: leftBytes <= 0 || read === 0 ? "" : `${timeText((seconds / read) * leftBytes)} left`,
  };
}

function showBar(input: Input, totalBytes: number, output: NodeJS.WriteStream): ImportView {
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
      const said = describe(input, progress, beganAt);
      if (!bar.isActive) bar.start(totalBytes, 0, said);
      bar.update(Math.min(totalBytes, input.readBytes()), said);
    },
    close: () => bar.stop(),
  };
}

function showLines(input: Input, output: NodeJS.WriteStream): ImportView {
  const beganAt = performance.now();
  let last: Readonly<ImportProgress> | null = null;
  const timer = setInterval(() => {
    if (last === null) return;
    const { lines, size, all, rate, left } = describe(input, last, beganAt);
    const read = input.totalBytes === null ? size : `${size} of ${all}`;
    const said = [`${lines} lines`, read, `${rate} lines/s`, left].filter((part) => part !== "");
    output.write(`outrigger: ${said.join(", ")}\n`);
  }, LINE_EVERY_MS);
  return {
    update(progress) {
      last = progress;
    },
    close: () => clearInterval(timer),
  };
}
