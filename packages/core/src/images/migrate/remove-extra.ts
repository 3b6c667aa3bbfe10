import type { StoreRole } from "../../contracts/observer.ts";
import { keysOfRole } from "./every-key.ts";
import { forEachAtOnce } from "./for-each-at-once.ts";
import { attempt, fromSource, type MigrationContext } from "./migration-context.ts";

/** Records go before what they name. */
const ORDER: readonly StoreRole[] = ["records", "renditions", "originals"];

/** Removes from the target what the source does not have: an image that was deleted there must not live on. @returns how many keys. */
export async function removeExtra(context: MigrationContext): Promise<number> {
  const { from, to, retry, concurrency, signal } = context;
  let removed = 0;
  for (const role of ORDER) {
    const keys = keysOfRole(to, role, retry);
    await forEachAtOnce(
      keys,
      concurrency,
      async (key) => {
        const wasThere = await attempt(context, key, async () => {
          if ((await fromSource(() => from[role].stat(key))) !== null) return false;
          return to[role].delete(key);
        });
        if (wasThere === true) removed++;
      },
      signal,
    );
  }
  return removed;
}
