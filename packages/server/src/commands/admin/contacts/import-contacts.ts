import { isError, isServiceError } from "@outrigger/core";
import { type BadLine, type FieldMapping, type ImportProgress, importContacts } from "@outrigger/sql";
import { listenForSignals } from "../../../cli/listen-for-signals.ts";
import { StartError } from "../../../config/config-error.ts";
import { type DataFlags, type LookupTools, withLookup } from "../../../lookup/with-lookup.ts";
import { noteBadLines } from "./bad-lines.ts";
import { type ContactFormat, formatOf } from "./import-options.ts";
import { openInput } from "./open-input.ts";
import { showImport } from "./show-import.ts";
import { tellImport } from "./tell-import.ts";

/** The options of `outrigger contacts import`, proved as far as the command line alone allows. */
export interface ImportFlags extends DataFlags {
  format?: ContactFormat;
  map?: FieldMapping;
  onBadLine?: "skip" | "fail";
  badLines?: string;
  json?: boolean;
  quiet?: boolean;
}

const SIGNAL_EXIT = 130;

/** `outrigger contacts import`: takes in what a file says of people's addresses. */
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
    tellImport(progress, { ms: performance.now() - beganAt, badLines: noted, json });
  } catch (error) {
    view?.close();
    noted.close();
    if (!interrupted.signal.aborted) throw importError(file, error);
    tellStopped(reached);
  } finally {
    interrupted.end();
    input.close();
  }
}

function tellStopped(reached: Readonly<ImportProgress> | null): void {
  const lines = reached === null ? "" : ` after line ${reached.lines}`;
  process.stderr.write(`outrigger: Stopped${lines}. Import the same file again, it goes on where it was\n`);
  process.exitCode = SIGNAL_EXIT;
}

/** Why an import could not go on, and what to do about it. What is no error of the file or the database goes through. */
function importError(file: string, error: unknown): unknown {
  const said = isError(error) ? error.message.replace(/\.$/, "") : String(error);
  if (isServiceError(error, "bad_request")) return new StartError(`${file}: ${said}`, { cause: error });
  if (!isServiceError(error)) return error;
  return new StartError(`${said}. Import the same file again when that is mended, it goes on where it was`, {
    cause: error,
  });
}
