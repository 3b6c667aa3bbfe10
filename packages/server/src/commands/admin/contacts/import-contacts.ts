import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { isServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import { CONTACT_FIELDS, type FieldMapping, type ImportOptions, importContacts } from "@outrigger/sql";
import { createMailLists } from "@outrigger/verifier";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { untilInterrupted } from "../../../cli/interruption.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import { StartError, usageError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { type LookupTools, withLookup } from "../../../lookup/with-lookup.ts";
import { noteBadLine, printImport, printPreview } from "./print-import.ts";

type ContactFormat = NonNullable<ImportOptions["format"]>;

/** The options of `outrigger contacts import`, validated by the command line. */
export interface ImportFlags extends DataFlags {
  format?: ContactFormat;
  encoding?: string;
  dryRun?: boolean;
  map?: Readonly<Record<string, string>>;
  onBadLine?: "skip" | "fail";
  json?: boolean;
}

/** `outrigger contacts import`: imports the contacts of a file, or shows what an import would do. */
export async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const { encoding, onBadLine } = flags;
  const format = flags.format ?? formatOf(file);
  const options: ImportOptions = {
    ...(format && { format }),
    ...(encoding && { encoding }),
    mapping: mappingOf(flags.map ?? {}),
    lists: createMailLists(),
    onBadLine: onBadLine === "fail" ? "fail" : noteBadLine,
  };
  if (flags.dryRun) await run(file, options, flags, null);
  else await withLookup(flags, true, (tools) => run(file, options, flags, tools));
}

async function run(
  file: string,
  options: ImportOptions,
  { json = false }: ImportFlags,
  tools: LookupTools | null,
): Promise<void> {
  const input = await openInput(file);
  const line = progressLine();
  const beganAt = performance.now();
  let reached = 0;
  const resume = () => ` after line ${reached}. Import the same file again to resume`;
  await untilInterrupted(async (signal) => {
    try {
      const progress = await importContacts(tools?.database ?? null, input, {
        ...options,
        onProgress({ lines }) {
          reached = lines;
          line.update(() => `${lines} lines, ${rateText(lines, beganAt)}`);
        },
        ...(tools && { isSuppressed: tools.suppressions.among }),
        signal,
      });
      line.close();
      if (tools === null) printPreview(file, progress, json);
      else printImport(file, progress, json, performance.now() - beganAt);
    } catch (error) {
      throw importError(file, error);
    } finally {
      line.close();
      input.destroy();
    }
  }, resume);
}

/** Why reading a file stopped, with the remedy. Other errors are returned unchanged. */
export function importError(file: string, error: unknown): unknown {
  const said = isError(error) ? error.message.replace(/\.$/, "") : String(error);
  if (isServiceError(error, "bad_request")) return new StartError(`${file}: ${said}`, { cause: error });
  if (!isServiceError(error)) return error;
  return new StartError(`${said}. Fix this, then run the same command again to resume`, { cause: error });
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

/** The format of a file by the suffix of its name; `undefined` if that does not determine it. */
export function formatOf(file: string): ContactFormat | undefined {
  const [, suffix = ""] = /\.([a-z]+)$/i.exec(file) ?? [];
  return FORMATS.get(suffix.toLowerCase());
}

const FORMATS: ReadonlyMap<string, ContactFormat> = new Map([
  ["csv", "csv"],
  ["tsv", "csv"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["vcf", "vcard"],
  ["vcard", "vcard"],
]);

/** @param file `-` for standard input. @throws StartError if the file cannot be read. */
export async function openInput(file: string): Promise<Readable> {
  if (file === "-") return process.stdin;
  try {
    const handle = await open(file);
    if (!(await handle.stat()).isDirectory())
      return createReadStream(file, { fd: handle, highWaterMark: 256 * 1024 });
    await handle.close();
    throw new Error("it is a directory");
  } catch (cause) {
    throw new StartError(`${file} cannot be read: ${fileReasonOf(cause)}`, { cause });
  }
}
