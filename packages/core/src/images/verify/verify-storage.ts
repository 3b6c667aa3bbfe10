import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { BlobStore, KeyPage, ListOptions } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { isServiceError } from "../../errors.ts";
import { listAll } from "../../stores/list-all.ts";
import { countKeys } from "../migrate/every-key.ts";
import { USAGES } from "../owners/stored-usages.ts";
import { roleOf } from "../record/image-record.ts";
import { readMark, writeMark } from "../store/role-marks.ts";
import { NEVER_OPENED } from "../store/store-guard.ts";
import { readIdentity, StoreRefused } from "../store/store-identity.ts";
import { checkLeftovers, removeOrphaned } from "./check-leftovers.ts";
import { checkRecord, checkUsage, removeDamaged } from "./check-record.ts";
import { runRemovals } from "./removals.ts";
import { attempt, createVerifyContext, type VerifyContext } from "./verify-context.ts";
import type { VerifyFinding, VerifyOptions, VerifyReport, VerifyState } from "./verify-options.ts";

const PHASES: readonly StoreRole[] = ["records", "originals", "renditions"];
/** Keys between two saved states, which are checked again after an interruption. */
const PAGE_KEYS = 500;

/**
 * Compares every record with its bytes (size and SHA-256), and finds bytes without a record. The storage may be in use: a
 * problem is checked twice before it is reported, and an image that ends meanwhile is not a finding.
 *
 * A repair changes only reported keys, by compare-and-set. It reverts neither deletions nor takedowns: an image is restored
 * from the backup if the copy there is intact and no trace shows that the image had ended. Otherwise it is deleted, once all
 * images and originals were checked, and only if that removes few of them (`maxRemovals`). An image that an earlier repair ended
 * because its bytes were missing or damaged is restored from the backup.
 *
 * @returns the report. The storage has no defects left if `defects` equals `repaired`.
 * @throws TypeError for an option out of range. ServiceError `store_unavailable` if a store is unavailable for longer than
 * `patienceMs`, `no_space` if a repair finds the store full.
 * @example
 * const storage = createFsBlobStore({ directory: "./data" });
 * const { defects } = await verifyStorage({ storage, onFinding: ({ key, what }) => console.log(key, what) });
 */
export async function verifyStorage(options: VerifyOptions): Promise<VerifyReport> {
  const context = createVerifyContext(options);
  const { progress, report, tell, stores } = context;
  const { state } = options;
  await requireRepairable(context);
  tell();
  if (state === undefined) {
    const counts = await countKeys(stores, context);
    for (const phase of PHASES) progress.totalKeys += counts[phase];
  }
  for (const phase of PHASES.slice(state === undefined ? 0 : PHASES.indexOf(state.phase))) {
    progress.phase = phase;
    // Before renditions are removed: the records may turn out to be the wrong ones.
    if (phase === "renditions") await runRemovals(context, removeFound);
    let cursor = state?.phase === phase ? state.cursor : null;
    do {
      const page = await pageOf(context, stores[phase], cursor);
      await checkPage(
        context,
        phase,
        page.keys.filter((key) => roleOf(key) === phase),
      );
      report.bytes = progress.bytes;
      cursor = page.cursor ?? null;
      await options.saveState?.(stateAt(context, phase, cursor));
    } while (cursor !== null);
  }
  await checkUsages(context);
  await markOriginals(context);
  return report;
}

/** Marks originals that a repair accepted without their mark, so that the service starts on them. */
async function markOriginals({ isRepair, maxRemovals, report, retry, stores }: VerifyContext): Promise<void> {
  if (!isRepair || maxRemovals === undefined || report.repaired < report.defects) return;
  const held = await retry(() => readIdentity(stores.records));
  if (held?.identity.originalsApart !== true) return;
  const { id } = held.identity;
  await retry(async () => {
    if ((await readMark(stores.originals, "originals")) === null)
      await writeMark(stores.originals, "originals", id, null);
  });
}

function removeFound(context: VerifyContext, finding: VerifyFinding): Promise<void> {
  return (finding.what === "orphaned-bytes" ? removeOrphaned : removeDamaged)(context, finding);
}

/** A repair deletes by absence, so it needs the right stores. A verification alone only reads. */
async function requireRepairable({ isRepair, life, retry, stores }: VerifyContext): Promise<void> {
  await life.guard.open();
  if (!isRepair) return;
  await retry(() => life.guard.confirmAll());
  if ((await retry(() => readIdentity(stores.records))) === null) throw new StoreRefused(NEVER_OPENED);
}

/** Runs last, so that a recounted usage includes every restored record. */
async function checkUsages(context: VerifyContext): Promise<void> {
  const { concurrency, retry, signal, stores } = context;
  const check = (key: string) => attempt(context, key, () => checkUsage(context, key));
  const retried = { list: (prefix: string, at: ListOptions) => retry(() => stores.records.list(prefix, at)) };
  await forEachAtOnce(listAll(retried, USAGES), concurrency, check, signal);
}

/** The state after a page: after the last page of a phase, the start of the next phase. */
function stateAt(
  { planned, progress, report }: VerifyContext,
  phase: StoreRole,
  cursor: string | null,
): VerifyState {
  const { keys, totalKeys } = progress;
  const next = cursor === null ? (PHASES[PHASES.indexOf(phase) + 1] ?? phase) : phase;
  return { phase: next, cursor, keys, totalKeys, report: { ...report }, planned: [...planned] };
}

async function pageOf({ retry }: VerifyContext, store: BlobStore, cursor: string | null): Promise<KeyPage> {
  const list = (from: string | null) =>
    retry(() => store.list("", { limit: PAGE_KEYS, ...(from === null ? {} : { cursor: from }) }));
  try {
    return await list(cursor);
  } catch (error) {
    // The cursor has expired: start from the beginning.
    if (cursor !== null && isServiceError(error, "bad_request")) return list(null);
    throw error;
  }
}

async function checkPage(context: VerifyContext, phase: StoreRole, keys: readonly string[]): Promise<void> {
  const { concurrency, signal, progress, tell } = context;
  const looked = (count: number) => {
    progress.keys += count;
    tell();
  };
  if (phase !== "records") {
    signal?.throwIfAborted();
    await checkLeftovers(context, phase, keys);
    return looked(keys.length);
  }
  async function* each() {
    yield* keys;
  }
  await forEachAtOnce(
    each(),
    concurrency,
    async (key) => {
      await attempt(context, key, () => checkRecord(context, key));
      looked(1);
    },
    signal,
  );
}
