import { StartError } from "../../../config/config-error.ts";
import { type DataFlags, withLookup } from "../../../lookup/with-lookup.ts";

/** As many characters of a key as are kept. */
const HINT_LENGTH = 6;

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
