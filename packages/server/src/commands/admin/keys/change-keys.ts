import { isServiceError } from "@outrigger/core";
import { ConfigError, StartError } from "../../../config/config-error.ts";
import { type DataFlags, type LookupTools, withLookup } from "../../../lookup/with-lookup.ts";

/** As many characters of a key as are kept. */
const HINT_LENGTH = 6;

/** The options of `outrigger keys create`, proved as far as the command line alone allows. */
export interface CreateFlags extends DataFlags {
  account?: string;
  email?: string;
  plan?: string;
  json?: boolean;
}

/** `outrigger keys create`: a key for a new account, or another one for an account that is there. Told once. */
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
      throw new StartError(
        `There is an account ${id} already: leave --email and --plan away for another key`,
      );
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
    throw new StartError("The account was made by somebody else just now: run it again", { cause });
  }
}

function requirePlan(plan: string | undefined, known: readonly string[]): void {
  if (plan === undefined || known.includes(plan)) return;
  throw new ConfigError("The command line", [
    `--plan: must be one of ${known.join(", ")} (lookup.plans of the configuration)`,
  ]);
}

/**
 * `outrigger keys revoke`: from when it ends, the keys of an account that begin so open nothing.
 * @param hint the beginning of a key, or all of it.
 */
export async function revokeKeys(account: string, hint: string, flags: DataFlags): Promise<void> {
  await withLookup(flags, false, async ({ lookup }) => {
    const count = await lookup.revokeKeys(account, hint.slice(0, HINT_LENGTH));
    if (count === 0) throw new StartError(`Account ${account} has no valid key that begins so`);
    process.stdout.write(`${count} ${count === 1 ? "key" : "keys"} revoked\n`);
  });
}
