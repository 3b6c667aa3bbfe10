import { setTimeout as delay } from "node:timers/promises";
import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { keyOf } from "../record/image-record.ts";
import { ORPHAN_MS } from "../uploads/orphan-watch.ts";
import { planRemoval } from "./removals.ts";
import { removeOrphan, restoreOrphan } from "./repair.ts";
import { attempt, type VerifyContext } from "./verify-context.ts";
import type { VerifyFinding } from "./verify-options.ts";

const MAX_ENTRIES = 1000;
/** A rendition stored during a deletion is removed by its writer within this time. */
const SETTLE_MS = 1_000;

/** Finds bytes without a record among keys of a store, all of one role. */
export async function checkLeftovers(
  context: VerifyContext,
  role: Exclude<StoreRole, "records">,
  keys: readonly string[],
): Promise<void> {
  const strays = await withoutRecord(context, keys);
  if (strays.length === 0) return;
  if (role === "renditions") {
    await delay(SETTLE_MS);
    for (const key of await withoutRecord(context, strays)) {
      await attempt(context, key, () => reportRendition(context, key));
    }
    return;
  }
  // Read first: an upload being stored is in the list from before its bytes until after its record.
  const underWay = await uploadsUnderWay(context);
  for (const key of await withoutRecord(context, strays)) {
    if (underWay === null) context.report.undecided++;
    else if (!underWay.has(idOf(key))) await attempt(context, key, () => reportBytes(context, key));
  }
}

async function reportRendition(context: VerifyContext, key: string): Promise<void> {
  if ((await context.stores.renditions.stat(key)) === null) return;
  const repair = context.mayRemove ? await removeOrphan(context, "renditions", key) : null;
  const detail = `${key} has no image`;
  context.found({ id: idOf(key), key, what: "orphaned-rendition", detail, repair });
}

async function reportBytes(context: VerifyContext, key: string): Promise<void> {
  const info = await context.stores.originals.stat(key);
  if (info === null) return;
  const repair = context.isRepair ? await restoreOrphan(context, idOf(key), key) : null;
  const detail = `${key} has ${info.size} bytes, and there is no record`;
  const finding: VerifyFinding = { id: idOf(key), key, what: "orphaned-bytes", detail, repair };
  if (repair !== null) return context.found(finding);
  context.report.orphans++;
  planRemoval(context, finding);
}

/** Deletes planned bytes, unless their record is there by now. */
export async function removeOrphaned(context: VerifyContext, finding: VerifyFinding): Promise<void> {
  if ((await withoutRecord(context, [finding.key])).length === 0) return;
  context.found({ ...finding, repair: await removeOrphan(context, "originals", finding.key) });
}

/** The keys whose images have no record. */
async function withoutRecord(context: VerifyContext, keys: readonly string[]): Promise<string[]> {
  const { retry, concurrency, signal, stores } = context;
  const ids = new Set(keys.map(idOf));
  const unknown = new Set<string>();
  async function* each() {
    yield* ids;
  }
  await forEachAtOnce(
    each(),
    concurrency,
    async (id) => {
      if ((await retry(() => stores.records.stat(keyOf.record(id)))) === null) unknown.add(id);
    },
    signal,
  );
  return keys.filter((key) => unknown.has(idOf(key)));
}

/** IDs of uploads that may still be in progress; `null`: the list is too long to read. */
async function uploadsUnderWay({ life, now, retry }: VerifyContext): Promise<Set<string> | null> {
  const nowMs = now();
  const entries = await retry(() => life.due.due(nowMs + ORPHAN_MS, MAX_ENTRIES));
  if (entries.length === MAX_ENTRIES) return null;
  return new Set(entries.filter(({ dueMs }) => dueMs > nowMs).map(({ id }) => id));
}

function idOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}
