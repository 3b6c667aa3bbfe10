import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { OutriggerError } from "@outrigger/client";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { jsonText, printFailure, printOut } from "../../cli/print-out.ts";
import { printable } from "../../cli/printable.ts";
import { progressLine } from "../../cli/progress-line.ts";
import { ConfigError, StartError } from "../../config/config-error.ts";
import { writeWhole } from "../admin/write-file.ts";
import { type AskedLookup, columns, type LookupFlags, withRemoteLookup } from "./lookup.ts";
import { doEach, doOne } from "./service.ts";

/** The options of `outrigger verify`, as typed. */
export interface VerifyFlags extends LookupFlags {
  csv?: string;
  id?: string;
  out?: string;
  quiet?: boolean;
}

const FIRST_POLL_MS = 500;
const MAX_POLL_MS = 10_000;
/** The command outlasts a restart of the service. */
const MAX_OUTAGE_MS = 5 * 60_000;
const PAGE_ROWS = 1000;
const RESULTS: readonly string[] = ["deliverable", "undeliverable", "risky", "claimed"];

/** `outrigger verify`: verifies addresses one by one, or a list in the background of the service. */
export async function verify(addresses: string[], flags: VerifyFlags): Promise<void> {
  const given = [addresses.length > 0, flags.csv !== undefined, flags.id !== undefined];
  const problems: string[] = [];
  if (given.filter(Boolean).length !== 1)
    problems.push("address, --csv or --id: exactly one of them is required");
  else if (addresses.length > 0 && flags.out !== undefined) problems.push("--out: needs --csv or --id");
  else if (addresses.length === 0 && flags.json === true)
    problems.push("--json: must not be given with --csv or --id");
  if (problems.length > 0) throw new ConfigError("The command line", problems);
  await withRemoteLookup(flags, (lookup) =>
    addresses.length > 0 ? verifyEach(addresses, lookup, flags.json ?? false) : verifyList(lookup, flags),
  );
}

/** Prints a line for each address as its verdict arrives. */
async function verifyEach(
  addresses: readonly string[],
  { client, baseUrl, signal }: AskedLookup,
  json: boolean,
): Promise<void> {
  const width = Math.max(...addresses.map((address) => printable(address).length));
  const print = async (address: string) => {
    const verdict = await client.verifyEmail(address, { signal });
    const { email, result, status, score, reason, suggestion } = verdict.data;
    const why = reason?.replaceAll("_", " ") ?? "";
    const hint = suggestion === null ? "" : `did you mean ${suggestion}?`;
    const row = [email, result.padEnd(13), status.padEnd(10), String(score).padStart(3), why, hint];
    printOut(json ? jsonText(verdict) : columns([row], width));
  };
  const tasks = addresses.map((address) => ({
    name: printable(address),
    baseUrl,
    run: () => print(address),
  }));
  await doEach(tasks, signal);
}

/** Verifies a CSV file in the background of the service, and writes it with the results. */
async function verifyList(
  lookup: AskedLookup,
  { csv, id, out, quiet = false, to }: VerifyFlags,
): Promise<void> {
  const list = id ?? (await sendFile(lookup, csv ?? "-"));
  const { client, baseUrl, signal } = lookup;
  const ask = <Result>(run: () => Promise<Result>) => doOne({ name: printable(list), baseUrl, run });
  try {
    await ask(() => untilDone(lookup, list, quiet));
    const table = await ask(() => client.verificationCsv(list, { signal }));
    if (out === undefined) printOut(table);
    else await writeWhole(out, Readable.from([table]));
    printCounts(await ask(() => countResults(lookup, list)));
  } catch (error) {
    const cause = error instanceof StartError ? error.cause : null;
    const isUnknown = cause instanceof OutriggerError && cause.status === 404;
    const again = `outrigger verify --id ${list}${to === undefined ? "" : ` --to ${to}`}`;
    if (!isUnknown)
      process.stderr.write(`outrigger: The service keeps the list; continue with ${printable(again)}\n`);
    throw error;
  }
}

/** @returns the ID of the list. */
async function sendFile({ client, baseUrl, signal }: AskedLookup, file: string): Promise<string> {
  const bytes = await buffer(file === "-" ? process.stdin : createReadStream(file)).catch((cause) => {
    throw new StartError(`${printable(file)} cannot be read: ${fileReasonOf(cause)}`, { cause });
  });
  const list = new Blob([new Uint8Array(bytes)], { type: "text/csv" });
  const run = () => client.verifyEmails(list, { signal });
  const { data } = await doOne({ name: printable(file), baseUrl, run });
  process.stderr.write(`outrigger: ${data.total} addresses, list ${printable(data.id)}\n`);
  return data.id;
}

async function untilDone({ client, signal }: AskedLookup, id: string, quiet: boolean): Promise<void> {
  const line = progressLine();
  let pollMs = FIRST_POLL_MS;
  let answeredAt = performance.now();
  try {
    for (;;) {
      try {
        const { data } = await client.verification(id, { limit: 1 }, { signal });
        if (!quiet) line.update(`${data.done} of ${data.total} addresses`);
        if (data.status === "done") return;
        answeredAt = performance.now();
      } catch (error) {
        // The service may answer later: it is restarted, or busy.
        const isOutage =
          error instanceof OutriggerError &&
          (error.status === 0 || error.status === 429 || error.status >= 500);
        if (!isOutage || performance.now() - answeredAt > MAX_OUTAGE_MS) throw error;
      }
      await delay(pollMs, undefined, { signal });
      pollMs = Math.min(MAX_POLL_MS, pollMs * 1.5);
    }
  } finally {
    line.close();
  }
}

/** The number of addresses by result, and of those beyond the allowance. */
async function countResults({ client, signal }: AskedLookup, id: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const { data } = await client.verification(id, { offset, limit: PAGE_ROWS }, { signal });
    for (const { result, status } of data.results) {
      const name = result ?? status ?? "";
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (offset + PAGE_ROWS >= data.total) return counts;
  }
}

function printCounts(counts: ReadonlyMap<string, number>): void {
  const parts = RESULTS.filter((name) => counts.has(name)).map((name) => `${counts.get(name)} ${name}`);
  if (parts.length > 0) process.stderr.write(`outrigger: ${parts.join(", ")}\n`);
  const unpaid = counts.get("not_paid") ?? 0;
  if (unpaid > 0) printFailure(`${unpaid} not verified: the allowance of the month is used up`);
}
