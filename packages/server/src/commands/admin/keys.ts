import { isServiceError } from "@outrigger/core";
import type { Account, AccountKey } from "@outrigger/core/lookup";
import { isoText, minuteText } from "../../cli/amounts.ts";
import { printLines } from "../../cli/print-lines.ts";
import { printable } from "../../cli/printable.ts";
import { ConfigError, StartError } from "../../config/config-error.ts";
import type { DataFlags } from "../../config/load-config.ts";
import { type LookupTools, withLookup } from "../../lookup/with-lookup.ts";

/** Number of stored characters of a key. */
const HINT_LENGTH = 6;

/** The options of `outrigger keys create`, validated by the command line. */
export interface CreateFlags extends DataFlags {
  account?: string;
  email?: string;
  plan?: string;
  json?: boolean;
}

/** `outrigger keys create`: creates a key for a new or an existing account and prints it once. */
export async function createKey({ json = false, ...flags }: CreateFlags): Promise<void> {
  await withLookup(flags, true, async (tools) => {
    const { account, key } = await create(tools, flags);
    process.stdout.write(
      json ? `${JSON.stringify({ account, key })}\n` : `Account: ${account}\nKey: ${key}\n`,
    );
  });
}

async function create(
  { lookup, accounts, settings }: LookupTools,
  { account: id, email, plan }: CreateFlags,
): Promise<{ account: string; key: string }> {
  requirePlan(plan, Object.keys({ free: true, ...settings.plans }));
  if (id !== undefined && (await accounts.get(id)) !== null) {
    if (email !== undefined || plan !== undefined) {
      throw new StartError(`Account ${id} already exists: omit --email and --plan to create another key`);
    }
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

function requirePlan(plan: string | undefined, known: readonly string[]): void {
  if (plan === undefined || known.includes(plan)) return;
  throw new ConfigError("The command line", [
    `--plan: must be one of ${known.join(", ")} (lookup.plans of the configuration)`,
  ]);
}

/**
 * `outrigger keys revoke`: revokes the keys of an account that begin with `hint`.
 * @param hint The first characters of a key, or the whole key.
 */
export async function revokeKeys(account: string, hint: string, flags: DataFlags): Promise<void> {
  await withLookup(flags, false, async ({ lookup }) => {
    const count = await lookup.revokeKeys(account, hint.slice(0, HINT_LENGTH));
    if (count === 0)
      throw new StartError(
        `Account ${account} has no valid key that begins with ${hint.slice(0, HINT_LENGTH)}`,
      );
    process.stdout.write(`${count} ${count === 1 ? "key" : "keys"} revoked\n`);
  });
}

const PAGE = 500;
const WIDTHS = [36, 12, 6, 16, 16];

/** `outrigger keys list`: one line per key, as a table or as JSON. Keys are stored only as hashes. */
export async function listKeys({ json = false, ...flags }: DataFlags & { json?: boolean }): Promise<void> {
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
