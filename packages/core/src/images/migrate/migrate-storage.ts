import { checkOptions } from "../../check-options.ts";
import { isServiceError } from "../../errors.ts";
import { fn, type RuleTable, required, secret, text } from "../../option-rules.ts";
import { createDueList } from "../../stores/due-list.ts";
import { createSeenClock } from "../life/clock-guard.ts";
import { MIN_SECRET_BYTES } from "../record/pin.ts";
import { carryIdentity, identityToCarry } from "../store/carry-identity.ts";
import { writeMigrationMark } from "../store/migration-mark.ts";
import { beginMigration, refusal } from "./begin-migration.ts";
import { countKeys } from "./every-key.ts";
import type { MigrateOptions, MigrationReport } from "./migrate-options.ts";
import {
  COPY_RULES,
  createMigrationContext,
  type MigrationContext,
  troublesOf,
} from "./migration-context.ts";
import { copyAll, type Passage, removeExtra } from "./mirror.ts";

const RULES = {
  ...COPY_RULES,
  source: required(text("a name of the source")),
  secret: secret(MIN_SECRET_BYTES, true),
  beforeFinish: fn(),
} satisfies RuleTable<MigrateOptions>;

/** Most comparisons. A source in use may change meanwhile; a source at rest is equal at the second comparison. */
const MAX_LOOKS = 3;

/**
 * Makes the target equal to the source: all keys of all images, and their due entries. After any end it can run again: it
 * continues, copies changes of the source, and removes keys that the source lacks. So a service can run during most of the
 * copy, and needs to stop for the last run only.
 *
 * Every copied blob is read back and compared, originals also with their records.
 *
 * At the end the target gets the identity of the source, so that no service starts on it with another secret.
 *
 * The target is marked as unfinished ({@link readMigrationMark}) from before the first copy until it is complete.
 * The stores stay open.
 *
 * @returns the result. Check `isComplete`, and `damaged`: keys damaged at the source do not make the target incomplete.
 * @throws ServiceError `conflict` if the target must not be written to; `no_space` if it is full; `store_unavailable`
 * when a store is unavailable for longer than `patienceMs`. After the latter two, run it again once the cause is fixed.
 * @example
 * const from = createFsBlobStore({ directory: "./data" });
 * const to = createRedisBlobStore({ url: "redis://127.0.0.1:6379" });
 * const { isComplete } = await migrateStorage({ from, to, source: "the disk of web1" });
 */
export async function migrateStorage(given: MigrateOptions): Promise<MigrationReport> {
  const options = checkOptions("migrateStorage", given, RULES);
  const context = createMigrationContext(options);
  const { from, to, progress, retry, tell } = context;
  const identity = await retry(() => identityToCarry(from.records, options.secret));
  const mark = await beginMigration(context, options.source);
  const first = await copyAll(context);
  progress.phase = "comparing";
  tell();
  const { keys, copied, removed, isSame } = await compare({ ...context, verify: false, isFresh: false });
  const isComplete = isSame && context.failed.size === 0;
  if (isComplete) {
    await options.beforeFinish?.();
    if (identity !== null) await retry(() => carryIdentity(to, identity)).catch(inUse);
    const seenMs = await retry(() => createSeenClock(createDueList(from.records, "clock")).last());
    const clock = createSeenClock(context.due.clock);
    if (seenMs !== null) await retry(() => clock.note(seenMs));
    const finished = { ...mark, finishedAt: Date.now(), seenMs: await retry(() => clock.last()) };
    await retry(() => writeMigrationMark(to.records, finished));
  }
  return {
    images: first.images,
    copied: first.copied + copied,
    bytes: progress.bytes,
    unchanged: first.unchanged,
    removed,
    keys,
    damaged: troublesOf(context.damaged),
    failed: troublesOf(context.failed),
    isComplete,
  };
}

function inUse(error: unknown): never {
  if (!isServiceError(error, "conflict")) throw error;
  throw refusal("a service has started to use the target: stop it, and run this again");
}

interface Comparison extends Pick<MigrationReport, "keys" | "copied" | "removed"> {
  isSame: boolean;
}

/**
 * Compares the number of keys: every key of the source is in the target, so equal counts mean equal keys. If the counts
 * differ, each key is looked up on the other side, since a store may list a key twice.
 */
async function compare(context: MigrationContext): Promise<Comparison> {
  const { from, to, roles } = context;
  const comparison: Comparison = { keys: { from: 0, to: 0 }, copied: 0, removed: 0, isSame: false };
  for (let look = 1; look <= MAX_LOOKS && !comparison.isSame; look++) {
    const here = await countKeys(from, context);
    const there = await countKeys(to, context);
    const sum = (counts: typeof here) => roles.reduce((total, role) => total + counts[role], 0);
    comparison.keys = { from: sum(here), to: sum(there) };
    const hasStray = !roles.includes("renditions") && there.renditions > 0;
    comparison.isSame = !hasStray && roles.every((role) => here[role] === there[role]);
    // Keys that could not be copied would be missing again.
    if (comparison.isSame || context.failed.size > 0) break;
    const removed = await removeExtra(context);
    const { copied }: Passage = await copyAll(context);
    comparison.removed += removed;
    comparison.copied += copied;
    comparison.isSame = removed === 0 && copied === 0;
  }
  return comparison;
}
