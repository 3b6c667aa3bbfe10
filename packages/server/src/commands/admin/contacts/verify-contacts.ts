import { setMaxListeners } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { isLookupProblem, isServiceError } from "@outrigger/core";
import { csvLine } from "@outrigger/core/lookup";
import { normaliseAddress } from "@outrigger/core/values";
import { readAddresses } from "@outrigger/sql";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { untilInterrupted } from "../../../cli/interruption.ts";
import { note, printable, printFailure, printOut } from "../../../cli/print.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import { StartError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { type LookupTools, withLookup } from "../../../lookup/with-lookup.ts";
import { importError, mappingOf, openInput } from "./import-contacts.ts";

/** The options of `outrigger contacts verify`, validated by the command line. */
export interface VerifyFlags extends DataFlags {
  encoding?: string;
  map?: Readonly<Record<string, string>>;
}

/** Addresses that are verified at once; the prober limits the sessions of each mail host. */
const AT_ONCE = 64;
/** Delay before an unfinished verification is asked for again. */
const AGAIN_MS = 2000;
const COLUMNS = [
  ...(["email", "result", "status", "score", "regexp", "gibberish", "disposable", "alias"] as const),
  ...(["webmail", "mx_records", "smtp_server", "smtp_check", "accept_all", "block"] as const),
  ...(["reason", "suggestion"] as const),
];
const HEADER = csvLine(COLUMNS);

/** `outrigger contacts verify`: verifies the addresses of a file, and appends each verdict to another. */
export async function verifyFile(from: string, to: string, flags: VerifyFlags): Promise<void> {
  const { encoding, map = {}, ...data } = flags;
  const mapping = mappingOf(map);
  const input = await openInput(from);
  const work = async (tools: LookupTools) => {
    if (tools.settings.smtp === undefined) note("lookup.smtp is not set: no mail server is asked");
    const file = await open(to, "a+", 0o600).catch((cause) => Promise.reject(unusable(to, cause)));
    try {
      const known = await knownIn(file).catch((cause) => Promise.reject(unusable(to, cause)));
      const output = { file, known, addresses: readAddresses(input, { encoding, mapping }) };
      const resume = () => ". Run the same command again to continue";
      await untilInterrupted((signal) => verifyAll(tools, output, signal), resume);
    } catch (error) {
      throw importError(from, error);
    } finally {
      await file.close();
    }
  };
  await withLookup(data, false, work, { isProbing: true }).finally(() => input.destroy());
}

function unusable(path: string, cause: unknown): StartError {
  return new StartError(`${printable(path)} cannot be used: ${fileReasonOf(cause)}`, { cause });
}

/** The addresses of a file of verdicts. Removes a last line that an interrupted run wrote in part. */
async function knownIn(file: FileHandle): Promise<Set<string>> {
  const bytes = await file.readFile();
  if (!HEADER.startsWith(bytes.toString("utf8", 0, HEADER.length))) throw new Error("it has no verdicts");
  const end = bytes.lastIndexOf("\n") + 1;
  await file.truncate(end);
  if (end === 0) await file.appendFile(HEADER);
  const known = new Set<string>();
  const rows = readAddresses(Readable.from([bytes.subarray(0, end)]), {});
  for await (const address of rows) known.add(keyOf(address));
  return known;
}

async function verifyAll(
  { lookup }: LookupTools,
  { file, known, addresses }: { file: FileHandle; known: Set<string>; addresses: AsyncGenerator<string> },
  signal: AbortSignal,
): Promise<void> {
  const counts = { verified: 0, present: 0, suppressed: 0, invalid: 0 };
  const [beganAt, line] = [performance.now(), progressLine()];
  setMaxListeners(AT_ONCE, signal);

  /** @returns whether it is finished. */
  async function verify(email: string): Promise<boolean> {
    try {
      const { data } = await lookup.verifyEmail(email, { signal });
      if (data.status === null) return false;
      await file.appendFile(csvLine(COLUMNS.map((column) => data[column] ?? "")));
      counts.verified++;
    } catch (error) {
      if (isServiceError(error, "overloaded")) return false;
      if (!isLookupProblem(error)) throw error;
      counts[error.id === "invalid_email" ? "invalid" : "suppressed"]++;
    }
    return true;
  }

  async function run(): Promise<void> {
    for await (const email of addresses) {
      line.update(() => `${counts.verified} addresses, ${rateText(counts.verified, beganAt)}`);
      if (email === "") counts.invalid++;
      else if (known.has(keyOf(email))) counts.present++;
      else {
        known.add(keyOf(email));
        while (!(await verify(email))) await delay(AGAIN_MS, undefined, { signal });
      }
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, run)).finally(() => line.close());
  const { verified, present, suppressed, invalid } = counts;
  const skipped = `${present} present already, ${suppressed} suppressed, ${invalid} without an address`;
  printOut(`${verified} addresses verified; skipped: ${skipped}.\n`);
  if (verified + present + suppressed === 0) printFailure("The file has no email address");
}

/** Spellings of one address share a row. */
function keyOf(address: string): string {
  return normaliseAddress(address) ?? address;
}
