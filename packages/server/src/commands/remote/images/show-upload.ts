import { SingleBar } from "cli-progress";
import { sizeText } from "../../../cli/amounts.ts";
import { printable } from "../../../cli/printable.ts";

/** A progress display of uploads on standard error. */
export interface UploadView {
  /** Starts the next file, of `bytes` bytes. */
  begin(name: string, bytes: number): void;
  /** Shows the bytes sent of the current file. */
  update(sentBytes: number): void;
  /** The file is done or has failed: erases the bar. */
  end(): void;
}

const BAR = "{bar} {percentage}% | {size} of {all} | {rate}/s | {state}";
const MAX_NAME_LENGTH = 30;

/** A bar for the bytes of all files on a terminal; nothing elsewhere. */
export function showUpload(
  files: number,
  totalBytes: number,
  output: NodeJS.WriteStream = process.stderr,
): UploadView {
  if (!output.isTTY) return { begin() {}, update() {}, end() {} };
  const beganAt = performance.now();
  const all = sizeText(totalBytes);
  let current = { index: 0, name: "", bytes: 0 };
  let bytesBefore = 0;
  let bar: SingleBar | null = null;

  function describe(sentBytes: number) {
    const sent = bytesBefore + sentBytes;
    const seconds = Math.max(0.001, (performance.now() - beganAt) / 1000);
    const which = files === 1 ? current.name : `${current.index}/${files} ${current.name}`;
    const state = sentBytes < current.bytes ? which : `${which}: waiting for the service`;
    return { size: sizeText(sent), all, rate: sizeText(Math.round(sent / seconds)), state };
  }

  return {
    begin(name, bytes) {
      current = { index: current.index + 1, name: shortened(printable(name)), bytes };
      bar = new SingleBar({
        format: BAR,
        stream: output,
        hideCursor: true,
        gracefulExit: false,
        clearOnComplete: true,
        barsize: 24,
      });
      bar.start(totalBytes, bytesBefore, describe(0));
    },
    update(sentBytes) {
      // A retry starts again at 0. Headers of the form do not count as bytes of the file.
      const sent = Math.min(sentBytes, current.bytes);
      bar?.update(bytesBefore + sent, describe(sent));
    },
    end() {
      bar?.stop();
      bar = null;
      bytesBefore += current.bytes;
    },
  };
}

function shortened(name: string): string {
  const characters = [...name];
  return characters.length <= MAX_NAME_LENGTH
    ? name
    : `${characters.slice(0, MAX_NAME_LENGTH - 1).join("")}…`;
}
