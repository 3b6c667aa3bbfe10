import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { keyOf } from "../record/image-record.ts";
import { keptRecord, NEWER, pictureOf } from "./copy-picture.ts";
import { copyRecord } from "./copy-record.ts";
import { keysOfRole } from "./every-key.ts";
import { attempt, fromSource, type MigrationContext } from "./migration-context.ts";

/** Records go before what they name. */
const ORDER: readonly StoreRole[] = ["records", "renditions", "originals"];

/** Removes from the target what the source does not have: an image that was deleted there must not live on. @returns how many keys. */
export async function removeExtra(context: MigrationContext): Promise<number> {
  const { mode, from, to, retry, concurrency, signal } = context;
  let removed = 0;
  for (const role of ORDER) {
    const keys = keysOfRole(to, role, retry);
    await forEachAtOnce(
      keys,
      concurrency,
      async (key) => {
        const wasThere = await attempt(context, key, async () => {
          if ((await fromSource(() => from[role].stat(key))) !== null) return false;
          if (mode === "backup" && role === "originals" && (await isStillNamed(context, key))) return false;
          return to[role].delete(key);
        });
        if (wasThere === true) removed++;
      },
      signal,
    );
  }
  return removed;
}

/**
 * Whether the target's record, brought up to date, names these bytes, which the source does not have: deleted since the record
 * was copied, or lost.
 */
async function isStillNamed(context: MigrationContext, key: string): Promise<boolean> {
  const [id = ""] = key.split("/");
  const recordKey = keyOf.record(id);
  if ((await copyRecord(context, recordKey)).outcome === "missing")
    await context.to.records.delete(recordKey);
  const record = await keptRecord(context, id);
  if (record === null || record === NEWER || pictureOf(record) !== key) return false;
  context.damaged.set(key, "is missing at the source; the backup keeps its copy");
  return true;
}
