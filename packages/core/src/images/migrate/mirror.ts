import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { idOfRecord, keyOf } from "../record/image-record.ts";
import { type Copied, copyBlob } from "./copy-blob.ts";
import { AT_ONCE, copyPicture, keptRecord, NEWER, pictureOf } from "./copy-picture.ts";
import { copyRecord } from "./copy-record.ts";
import { keysOfRole } from "./every-key.ts";
import { attempt, fromSource, type MigrationContext } from "./migration-context.ts";

/** The result of one pass over the source: numbers of keys. */
export interface Passage {
  images: number;
  copied: number;
  unchanged: number;
}

/** Copies the keys that the target lacks, role by role. */
export async function copyAll(context: MigrationContext): Promise<Passage> {
  const { from, roles, retry, concurrency, signal, progress, expected, tell } = context;
  const passage: Passage = { images: 0, copied: 0, unchanged: 0 };
  const isCounted = progress.phase === "counting";
  for (const role of roles) {
    if (isCounted) progress.phase = role;
    const estimate = expected[role];
    let listed = 0;
    const onListed = (keys: number, share: number | null) => {
      listed += keys;
      // What is listed is exact; the estimate stands for the rest.
      const rest = share === null ? estimate - listed : (1 - share) * estimate;
      expected[role] = listed + Math.max(0, rest);
      tellTotal(context);
    };
    const keys = keysOfRole(from, role, { retry, concurrency, ...(isCounted ? { onListed } : {}) });
    await forEachAtOnce(keys, concurrency, (key) => copyOne(role, key), signal);
  }
  return passage;

  async function copyOne(role: StoreRole, key: string): Promise<void> {
    const copied = await attempt(context, key, () => copierOf(context, role)(key));
    if (copied !== "failed" && copied.outcome !== "missing" && copied.outcome !== "damaged") {
      passage[copied.outcome]++;
      if (idOfRecord(key) !== null) passage.images++;
    }
    if (!isCounted) return;
    progress.keys++;
    tell();
  }
}

/** Updates the number of keys to process. */
export function tellTotal({ progress, roles, expected, tell }: MigrationContext): void {
  progress.totalKeys = Math.round(roles.reduce((total, role) => total + expected[role], 0));
  tell();
}

function copierOf(context: MigrationContext, role: StoreRole): (key: string) => Promise<Copied> {
  switch (role) {
    case "records":
      return (key) => copyRecord(context, key);
    case "originals":
      return (key) => copyPicture(context, key);
    case "renditions":
      return (key) => copyRendition(context, key);
  }
}

/** Only the service knows how long idle images keep renditions: its sweep notes a use of the image, and sets the next due time. */
async function copyRendition(context: MigrationContext, key: string): Promise<Copied> {
  const [id = ""] = key.split("/");
  await context.due.renditions.add({ id, dueMs: AT_ONCE });
  return copyBlob(context, "renditions", key);
}

/** Order of removal: records before the bytes that they name. */
const ORDER: readonly StoreRole[] = ["records", "renditions", "originals"];

/** Removes keys that the source lacks from the target, so that no deleted image survives there. @returns the number of keys. */
export async function removeExtra(context: MigrationContext): Promise<number> {
  const { mode, from, to, concurrency, signal } = context;
  let removed = 0;
  for (const role of ORDER) {
    const keys = keysOfRole(to, role, context);
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
 * Whether the target's record, once updated, still names these bytes. If so, the source has lost them; if not, the image was
 * deleted after its record was copied.
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
