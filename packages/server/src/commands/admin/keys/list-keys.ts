import type { Account, AccountKey } from "@outrigger/core/lookup";
import { isoText, minuteText } from "../../../cli/amounts.ts";
import { printLines } from "../../../cli/print-lines.ts";
import { printable } from "../../../cli/printable.ts";
import { type DataFlags, type LookupTools, withLookup } from "../../../lookup/with-lookup.ts";

/** The options of `outrigger keys list`. */
export interface ListFlags extends DataFlags {
  json?: boolean;
}

const PAGE = 500;
const WIDTHS = [36, 12, 6, 16, 16];

/** `outrigger keys list`: one line per key, as a table or as JSON. Keys are stored only as hashes. */
export async function listKeys({ json = false, ...flags }: ListFlags): Promise<void> {
  await withLookup(flags, false, (tools) => printLines(linesOf(tools, json)));
}

async function* linesOf({ accounts }: LookupTools, json: boolean): AsyncGenerator<string> {
  if (!json) yield line(["ACCOUNT", "PLAN", "KEY", "CREATED (UTC)", "REVOKED (UTC)", "EMAIL"]);
  let after: string | undefined;
  for (;;) {
    const page = await accounts.list({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const account of page) {
      for (const key of await accounts.keys(account.id))
        yield json ? jsonLine(account, key) : row(account, key);
    }
    if (page.length < PAGE) return;
    after = page.at(-1)?.id;
  }
}

function row({ id, plan, email }: Account, { hint, createdAt, revokedAt }: AccountKey): string {
  const revoked = revokedAt === null ? "" : minuteText(revokedAt);
  return line([id, plan, hint, minuteText(createdAt), revoked, printable(email ?? "")]);
}

function jsonLine({ id, plan, email }: Account, { hint, createdAt, revokedAt }: AccountKey): string {
  const dates = { createdAt: isoText(createdAt), revokedAt: revokedAt === null ? null : isoText(revokedAt) };
  return `${printable(JSON.stringify({ account: id, plan, email, hint, ...dates }))}\n`;
}

function line(columns: readonly string[]): string {
  const padded = columns.map((text, index) => text.padEnd(WIDTHS[index] ?? 0));
  return `${padded.join("  ").trimEnd()}\n`;
}
