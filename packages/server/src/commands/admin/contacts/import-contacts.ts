import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { isServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import { CONTACT_FIELDS, type FieldMapping, type ImportProgress, importContacts } from "@outrigger/sql";
import { sizeText, timeText } from "../../../cli/amounts.ts";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { untilInterrupted } from "../../../cli/interruption.ts";
import { progressLine, secondsSince } from "../../../cli/progress-line.ts";
import { StartError, usageError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { type LookupTools, withLookup } from "../../../lookup/with-lookup.ts";
import { BadLines, printImport } from "./print-import.ts";

export type ContactFormat = "csv" | "ndjson";

/** The options of `outrigger contacts import`, validated by the command line. */
export interface ImportFlags extends DataFlags {
  format?: ContactFormat;
  map?: Readonly<Record<string, string>>;
  onBadLine?: "skip" | "fail";
  badLines?: string;
  json?: boolean;
  quiet?: boolean;
}

/** `outrigger contacts import`: imports the contacts of a file. */
export async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const format = formatOf(file, flags.format);
  const mapping = mappingOf(flags.map ?? {});
  await withLookup(flags, true, (tools) => run(file, format, mapping, flags, tools));
}

async function run(
  file: string,
  format: ContactFormat,
  mapping: FieldMapping,
  { onBadLine, badLines, json = false, quiet = false }: ImportFlags,
  { database, suppressions }: LookupTools,
): Promise<void> {
  const input = await openInput(file);
  const bad = new BadLines(badLines);
  const line = progressLine(quiet);
  const beganAt = performance.now();
  let reached = 0;
  const resume = () => ` after line ${reached}. Import the same file again to resume`;
  await untilInterrupted(async (signal) => {
    try {
      const progress = await importContacts(database, input.bytes, {
        format,
        mapping,
        onBadLine: onBadLine === "fail" ? "fail" : (each) => bad.add(each),
        onProgress(now) {
          reached = now.lines;
          line.update(() => progressText(now, input, secondsSince(beganAt)));
        },
        isSuppressed: suppressions.among,
        signal,
      });
      line.close();
      bad.close();
      printImport(file, progress, bad, json, performance.now() - beganAt);
    } catch (error) {
      throw importError(file, error);
    } finally {
      line.close();
      bad.close();
      input.close();
    }
  }, resume);
}

/** Why an import stopped, with the remedy. Other errors are returned unchanged. */
function importError(file: string, error: unknown): unknown {
  const said = isError(error) ? error.message.replace(/\.$/, "") : String(error);
  if (isServiceError(error, "bad_request")) return new StartError(`${file}: ${said}`, { cause: error });
  if (!isServiceError(error)) return error;
  return new StartError(`${said}. Fix this, then import the same file again to resume`, { cause: error });
}

function progressText({ lines }: ImportProgress, { readBytes, totalBytes }: Input, seconds: number): string {
  const read = readBytes();
  const leftBytes = totalBytes === null ? 0 : totalBytes - read;
  const left = leftBytes <= 0 || read === 0 ? "" : `, ${timeText((seconds / read) * leftBytes)} left`;
  const size = totalBytes === null ? sizeText(read) : `${sizeText(read)} of ${sizeText(totalBytes)}`;
  return `${lines} lines, ${size}, ${Math.round(lines / seconds)} lines/s${left}`;
}

/** The columns of `--map` by field. @throws ConfigError for an unknown field. */
export function mappingOf(map: Readonly<Record<string, string>>): FieldMapping {
  const entries = Object.entries(map).map(([name, column]) => {
    // As in exports, `first_name` for `firstName`.
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const field = CONTACT_FIELDS.find((each) => each === camel);
    if (field !== undefined) return [field, column];
    throw usageError(`--map: must be field=column,… with fields of ${CONTACT_FIELDS.join(", ")}`);
  });
  return Object.fromEntries(entries);
}

/**
 * The format of a file: as typed, or from the suffix of its name.
 * @throws ConfigError if neither determines it.
 */
export function formatOf(file: string, typed: ContactFormat | undefined): ContactFormat {
  if (typed !== undefined) return typed;
  if (/\.csv$/i.test(file)) return "csv";
  if (/\.(?:ndjson|jsonl)$/i.test(file)) return "ndjson";
  const what = file === "-" ? "the standard streams" : file;
  throw usageError(`--format: is required for ${what}: csv or ndjson`);
}

/** An open input file. */
interface Input {
  bytes: AsyncIterable<Uint8Array>;
  /** `null` if unknown. */
  totalBytes: number | null;
  /** Bytes read until now. */
  readBytes(): number;
  /** Stops reading. */
  close(): void;
}

/** @param file `-` for standard input. @throws StartError if the file cannot be read. */
async function openInput(file: string): Promise<Input> {
  const { stream, totalBytes } =
    file === "-" ? { stream: process.stdin, totalBytes: null } : await openFile(file);
  let read = 0;

  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      // Neither stream has an encoding, so chunks are bytes.
      const bytes = chunk as Buffer;
      read += bytes.length;
      yield bytes;
    }
  }

  return { bytes: counted(), totalBytes, readBytes: () => read, close: () => void stream.destroy() };
}

async function openFile(file: string) {
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      await handle.close();
      throw new Error("it is a directory");
    }
    const stream = createReadStream(file, { fd: handle, highWaterMark: 256 * 1024 });
    return { stream, totalBytes: stats.isFile() ? stats.size : null };
  } catch (cause) {
    throw new StartError(`${file} cannot be read: ${fileReasonOf(cause)}`, { cause });
  }
}
