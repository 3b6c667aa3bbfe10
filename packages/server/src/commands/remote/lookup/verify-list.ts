import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { OutriggerError, type VerificationList, type VerificationPage } from "@outrigger/client";
import { timeText } from "../../../cli/amounts.ts";
import { printFailure, printOut } from "../../../cli/print-out.ts";
import { printable } from "../../../cli/printable.ts";
import { StartError } from "../../../config/config-error.ts";
import { openInput } from "../../admin/contacts/open-input.ts";
import { type ProgressView, showProgress } from "../../admin/show-progress.ts";
import { writeWhole } from "../../admin/write-file.ts";
import { doOne } from "../do-each.ts";
import { failureText } from "../failure-text.ts";
import { type AskedLookup, type LookupFlags, withRemoteLookup } from "./with-remote-lookup.ts";

/** The options of `outrigger verify` for a list, as typed. */
export interface ListFlags extends LookupFlags {
  csv?: string;
  id?: string;
  out?: string;
  quiet?: boolean;
}

const BAR = "{bar} {percentage}% | {value}/{total} addresses | {rate}/s | {left}";
const FIRST_POLL_MS = 500;
const MAX_POLL_MS = 10_000;
/** The command outlasts a restart of the service. */
const MAX_OUTAGE_MS = 5 * 60_000;
const PAGE_ROWS = 1000;

/** Verifies a CSV file in the background of the service, and writes it with the results. */
export async function verifyList({ csv, id, out, quiet = false, ...flags }: ListFlags): Promise<void> {
  await withRemoteLookup(flags, async (lookup) => {
    const list = id ?? (await sendFile(lookup, csv ?? "-"));
    const again = ["outrigger verify --id", list, ...(flags.to === undefined ? [] : ["--to", flags.to])];
    try {
      await untilDone(lookup, list, quiet);
      await writeResults(lookup, list, out);
    } catch (error) {
      if (!isUnknown(error)) {
        process.stderr.write(
          `outrigger: The service keeps the list; continue with ${printable(again.join(" "))}\n`,
        );
      }
      throw error;
    }
  });
}

function isUnknown(error: unknown): boolean {
  const cause = error instanceof StartError ? error.cause : null;
  return cause instanceof OutriggerError && cause.status === 404;
}

/** @returns the ID of the list. */
async function sendFile({ client, baseUrl, signal }: AskedLookup, file: string): Promise<string> {
  const input = await openInput(file);
  const bytes = await buffer(input.bytes);
  const list = new Blob([new Uint8Array(bytes)], { type: "text/csv" });
  const { data } = await doOne(printable(file), baseUrl, () => client.verifyEmails(list, { signal }));
  process.stderr.write(`outrigger: ${data.total} addresses, list ${printable(data.id)}\n`);
  return data.id;
}

async function untilDone(
  { client, baseUrl, signal }: AskedLookup,
  id: string,
  quiet: boolean,
): Promise<void> {
  const view = quiet ? null : showList();
  let pollMs = FIRST_POLL_MS;
  let outageSinceMs: number | null = null;
  try {
    for (;;) {
      try {
        const { data } = await client.verification(id, { limit: 1 }, { signal });
        view?.update(data);
        if (data.status === "done") return;
        outageSinceMs = null;
      } catch (error) {
        outageSinceMs ??= performance.now();
        const isOver = performance.now() - outageSinceMs > MAX_OUTAGE_MS;
        if (!(error instanceof OutriggerError) || isOver || !isOutage(error)) {
          throw asStartError(error, id, baseUrl);
        }
      }
      await delay(pollMs, undefined, { signal });
      pollMs = Math.min(MAX_POLL_MS, pollMs * 1.5);
    }
  } finally {
    view?.close();
  }
}

/** Whether the service may answer later: it is restarted, or busy. */
function isOutage({ status }: OutriggerError): boolean {
  return status === 0 || status === 429 || status >= 500;
}

function asStartError(error: unknown, id: string, baseUrl: string): unknown {
  if (!(error instanceof OutriggerError)) return error;
  return new StartError(`${printable(id)}: ${failureText(error, baseUrl)}`, { cause: error });
}

/** A bar on a terminal, a line every five seconds elsewhere. */
export function showList(output?: NodeJS.WriteStream): ProgressView<VerificationList> {
  let doneBefore: number | null = null;
  return showProgress(
    BAR,
    ({ done, total }, seconds) => {
      // A continued list had results before this command.
      doneBefore ??= done;
      const count = done - doneBefore;
      const rate = (count / seconds).toFixed(1);
      const left = count === 0 || done >= total ? "" : `${timeText((seconds / count) * (total - done))} left`;
      return {
        ...{ value: done, total, fields: { rate, left } },
        line: [`${done} of ${total} addresses`, `${rate}/s`, left],
      };
    },
    output,
  );
}

async function writeResults(lookup: AskedLookup, id: string, out: string | undefined): Promise<void> {
  const { client, baseUrl, signal } = lookup;
  const csv = await doOne(printable(id), baseUrl, () => client.verificationCsv(id, { signal }));
  if (out === undefined) printOut(csv);
  else await writeWhole(out, Readable.from([csv]));
  const counts = await countResults(lookup, id);
  const unpaid = counts.get("not_paid") ?? 0;
  counts.delete("not_paid");
  const parts = [...counts].map(([name, count]) => `${count} ${name}`);
  if (parts.length > 0) process.stderr.write(`outrigger: ${parts.join(", ")}\n`);
  if (unpaid > 0) printFailure(`${unpaid} not verified: the allowance of the month is used up`);
}

const RESULTS: readonly string[] = ["deliverable", "undeliverable", "risky", "claimed", "not_paid"];

/** The number of addresses by result. */
async function countResults(
  { client, baseUrl, signal }: AskedLookup,
  id: string,
): Promise<Map<string, number>> {
  const counts = new Map(RESULTS.map((name) => [name, 0]));
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const page = { offset, limit: PAGE_ROWS };
    const { data }: { data: VerificationPage } = await doOne(printable(id), baseUrl, () =>
      client.verification(id, page, { signal }),
    );
    for (const { result, status } of data.results) {
      const name = result ?? status ?? "";
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (offset + PAGE_ROWS >= data.total) break;
  }
  return new Map([...counts].filter(([name, count]) => RESULTS.includes(name) && count > 0));
}
