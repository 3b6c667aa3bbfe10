import { isServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import { type BadLine, type FieldMapping, type ImportProgress, importContacts } from "@outrigger/sql";
import { sizeText, timeText } from "../../../cli/amounts.ts";
import { listenForSignals } from "../../../cli/listen-for-signals.ts";
import { StartError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { type LookupTools, withLookup } from "../../../lookup/with-lookup.ts";
import { type ProgressView, showProgress } from "../show-progress.ts";
import { type ContactFormat, formatOf } from "./import-options.ts";
import { type Input, openInput } from "./open-input.ts";
import { noteBadLines, printImport } from "./print-import.ts";

/** The options of `outrigger contacts import`, validated by the command line. */
export interface ImportFlags extends DataFlags {
  format?: ContactFormat;
  map?: FieldMapping;
  onBadLine?: "skip" | "fail";
  badLines?: string;
  json?: boolean;
  quiet?: boolean;
}

const SIGNAL_EXIT = 130;

/** `outrigger contacts import`: imports the contacts of a file. */
export async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const format = formatOf(file, flags.format);
  await withLookup(flags, true, (tools) => run(file, format, flags, tools));
}

async function run(
  file: string,
  format: ContactFormat,
  { map, onBadLine = "skip", badLines, json = false, quiet = false }: ImportFlags,
  { database, suppressions }: LookupTools,
): Promise<void> {
  const input = await openInput(file);
  const noted = noteBadLines(badLines);
  const interrupted = listenForSignals();
  const view = quiet ? null : showImport(input);
  const beganAt = performance.now();
  let reached: Readonly<ImportProgress> | null = null;
  try {
    const progress = await importContacts(database, input.bytes, {
      format,
      ...(map === undefined ? {} : { mapping: map }),
      onBadLine: onBadLine === "fail" ? "fail" : (line: BadLine) => noted.add(line),
      onProgress(now) {
        reached = now;
        view?.update(now);
      },
      isSuppressed: suppressions.among,
      signal: interrupted.signal,
    });
    view?.close();
    noted.close();
    printImport(file, progress, { ms: performance.now() - beganAt, badLines: noted, json });
  } catch (error) {
    view?.close();
    noted.close();
    if (!interrupted.signal.aborted) throw importError(file, error);
    printStopped(reached);
  } finally {
    interrupted.end();
    input.close();
  }
}

function printStopped(reached: Readonly<ImportProgress> | null): void {
  const lines = reached === null ? "" : ` after line ${reached.lines}`;
  process.stderr.write(`outrigger: Stopped${lines}. Import the same file again to resume\n`);
  process.exitCode = SIGNAL_EXIT;
}

/** Why an import stopped, with the remedy. Other errors are returned unchanged. */
function importError(file: string, error: unknown): unknown {
  const said = isError(error) ? error.message.replace(/\.$/, "") : String(error);
  if (isServiceError(error, "bad_request")) return new StartError(`${file}: ${said}`, { cause: error });
  if (!isServiceError(error)) return error;
  return new StartError(`${said}. Fix this, then import the same file again to resume`, {
    cause: error,
  });
}

function showImport(input: Input): ProgressView<ImportProgress> {
  const { totalBytes } = input;
  return showProgress(false, ({ lines }, seconds) => {
    const read = input.readBytes();
    const leftBytes = totalBytes === null ? 0 : totalBytes - read;
    const left = leftBytes <= 0 || read === 0 ? "" : `${timeText((seconds / read) * leftBytes)} left`;
    const size = totalBytes === null ? sizeText(read) : `${sizeText(read)} of ${sizeText(totalBytes)}`;
    return [`${lines} lines`, size, `${Math.round(lines / seconds)} lines/s`, left];
  });
}
