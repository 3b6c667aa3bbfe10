import { isServiceError } from "@outrigger/core";
import type { Account, AccountKey } from "@outrigger/core/lookup";
import { isoText, minuteText } from "../../cli/amounts.ts";
import { jsonText, printable, printLines, tableRow } from "../../cli/print.ts";
import { StartError, usageError } from "../../config/config-error.ts";
import type { DataFlags } from "../../config/load-config.ts";
import { type LookupTools, withLookup } from "../../lookup/with-lookup.ts";

/** Number of stored characters of a key. */
const HINT_LENGTH = 6;

/** The options of `outrigger keys create`, validated by the command line. */
export interface CreateKeyFlags extends DataFlags {
  account?: string;
  email?: string;
  plan?: string;
  json?: boolean;
}

/** `outrigger keys create`: creates a key for a new or an existing account and prints it once. */
export async function createKey(flags: CreateKeyFlags): Promise<void> {
  await withLookup(flags, true, async (tools) => {
    const { account, key } = await create(tools, flags);
    const text = flags.json ? `${JSON.stringify({ account, key })}\n` : `Account: ${account}\nKey: ${key}\n`;
    process.stdout.write(text);
  });
}

async function create(
  { lookup, accounts, settings }: LookupTools,
  { account: id, email, plan }: CreateKeyFlags,
): Promise<{ account: string; key: string }> {
  const plans = Object.keys({ free: true, ...settings.plans });
  if (plan !== undefined && !plans.includes(plan))
    throw usageError(`--plan: must be one of ${plans.join(", ")} (lookup.plans of the configuration)`);
  if (id !== undefined && (await accounts.get(id)) !== null) {
    if (email !== undefined || plan !== undefined)
      throw new StartError(`Account ${id} already exists: omit --email and --plan to create another key`);
    return { account: id, key: await lookup.createKey(id) };
  }
  try {
    const { account, key } = await lookup.createAccount({
      ...(id === undefined ? {} : { id }),
      ...(email === undefined ? {} : { email }),
      ...(plan === undefined ? {} : { plan }),
    });
    return { account: account.id, key };
  } catch (cause) {
    if (!isServiceError(cause, "conflict")) throw cause;
    throw new StartError("Another process has just created the account: run this again", { cause });
  }
}

/**
 * `outrigger keys revoke`: revokes the keys of an account that begin with `hint`.
 * @param hint The first characters of a key, or the whole key.
 */
export async function revokeKeys(account: string, hint: string, flags: DataFlags): Promise<void> {
  const start = hint.slice(0, HINT_LENGTH);
  await withLookup(flags, false, async ({ lookup }) => {
    const count = await lookup.revokeKeys(account, start);
    if (count === 0) throw new StartError(`Account ${account} has no valid key that begins with ${start}`);
    process.stdout.write(`${count} ${count === 1 ? "key" : "keys"} revoked\n`);
  });
}

const PAGE = 500;
const WIDTHS = [36, 12, 6, 16, 16];
const HEADING = ["ACCOUNT", "PLAN", "KEY", "CREATED (UTC)", "REVOKED (UTC)", "EMAIL"];

/** `outrigger keys list`: one line per key, as a table or as JSON. Keys are stored only as hashes. */
export async function listKeys(flags: DataFlags & { json?: boolean }): Promise<void> {
  const text = flags.json ? jsonLine : row;
  await withLookup(flags, false, async ({ accounts }) => {
    if (!flags.json) process.stdout.write(tableRow(HEADING, WIDTHS));
    await printLines(linesOf(accounts, text));
  });
}

type LineText = (account: Account, key: AccountKey) => string;

async function* linesOf(accounts: LookupTools["accounts"], text: LineText): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const page = await accounts.list({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const account of page) {
      for (const key of await accounts.keys(account.id)) yield text(account, key);
    }
    if (page.length < PAGE) return;
    after = page.at(-1)?.id;
  }
}

function row({ id, plan, email }: Account, { hint, createdAt, revokedAt }: AccountKey): string {
  const revoked = revokedAt === null ? "" : minuteText(revokedAt);
  return tableRow([id, plan, hint, minuteText(createdAt), revoked, printable(email ?? "")], WIDTHS);
}

function jsonLine({ id, plan, email }: Account, { hint, createdAt, revokedAt }: AccountKey): string {
  const dates = { createdAt: isoText(createdAt), revokedAt: revokedAt === null ? null : isoText(revokedAt) };
  return jsonText({ account: id, plan, email, hint, ...dates });
}
