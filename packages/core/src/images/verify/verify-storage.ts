import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { BlobStore, KeyPage } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { isServiceError } from "../../errors.ts";
import { countKeys } from "../migrate/every-key.ts";
import { roleOf } from "../record/image-record.ts";
import { checkLeftovers } from "./check-leftovers.ts";
import { checkRecord, checkTally } from "./check-record.ts";
import { attempt, createVerifyContext, type VerifyContext } from "./verify-context.ts";
import type { VerifyOptions, VerifyReport, VerifyState } from "./verify-options.ts";

const PHASES: readonly StoreRole[] = ["records", "originals", "renditions"];
/** Keys between two states: what is looked at again after an end. */
const PAGE_KEYS = 500;

/**
 * Compares every record with the bytes that it is about (size and SHA-256), and looks for bytes without a record. The storage
 * may be in use: what looks wrong is looked at again before it is reported, and an image that ends meanwhile is no finding.
 *
 * A repair changes only what was found, by compare-and-set. It undoes neither deletions nor takedowns: an image is restored
 * from the backup when the copy there is whole and nothing says that the image had ended; else it ends as if it was deleted.
 *
 * @returns what was found. The storage is whole where `defects` equals `repaired`.
 * @throws TypeError for an option out of range. ServiceError `store_unavailable` when a store is away for longer than
 * `patienceMs`, `no_space` when a repair finds it full.
 * @example
 * const storage = createFsBlobStore({ directory: "./data" });
 * const { defects } = await verifyStorage({ storage, onFinding: ({ key, what }) => console.log(key, what) });
 */
export async function verifyStorage(options: VerifyOptions): Promise<VerifyReport> {
  const context = createVerifyContext(options);
  const { progress, report, retry, tell, stores } = context;
  const { state } = options;
  await context.life.guard.open();
  tell();
  if (state === undefined) {
    const counts = await countKeys(stores, retry);
    for (const phase of PHASES) progress.totalKeys += counts[phase];
  }
  for (const phase of PHASES.slice(state === undefined ? 0 : PHASES.indexOf(state.phase))) {
    progress.phase = phase;
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
  await checkTallies(context);
  return report;
}

/** Last: a tally that is counted anew is to count every record that was restored. */
async function checkTallies(context: VerifyContext): Promise<void> {
  const { concurrency, retry, signal, stores } = context;
  async function* each() {
    let cursor: string | undefined;
    do {
      const at = cursor === undefined ? {} : { cursor };
      const page = await retry(() => stores.records.list("owners/", at));
      yield* page.keys;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  const check = (key: string) => attempt(context, key, () => checkTally(context, key));
  await forEachAtOnce(each(), concurrency, check, signal);
}

/** The state behind a page; behind the last of a phase, that of the next. */
function stateAt({ progress, report }: VerifyContext, phase: StoreRole, cursor: string | null): VerifyState {
  const { keys, totalKeys } = progress;
  const next = cursor === null ? (PHASES[PHASES.indexOf(phase) + 1] ?? phase) : phase;
  return { phase: next, cursor, keys, totalKeys, report: { ...report } };
}

async function pageOf({ retry }: VerifyContext, store: BlobStore, cursor: string | null): Promise<KeyPage> {
  const list = (from: string | null) =>
    retry(() => store.list("", { limit: PAGE_KEYS, ...(from === null ? {} : { cursor: from }) }));
  try {
    return await list(cursor);
  } catch (error) {
    // A cursor that the store does not know any more: from the beginning again.
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
