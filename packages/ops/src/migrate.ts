import type { StoreIdentity } from "@outrigger/core/storage";
import { checkOptions, rules } from "@outrigger/core/stores";
import { Mirror, type Pass } from "./mirror.ts";
import { MIRROR_RULES, type MirrorReport } from "./options.ts";
import { isEmptyTarget, openSides, refusal, requireApart, requireImages } from "./sides.ts";
import { countKeys } from "./walk.ts";

const RULES = {
  ...MIRROR_RULES,
  /** Copies renditions; missing ones are rendered again on request. @default true */
  withRenditions: rules.preset(true, rules.flag()),
};

export interface MigrateOptions extends rules.Options<typeof RULES> {}

/** The result of a migration. */
export interface MigrationReport extends MirrorReport {
  /** Keys on each side at the end; without renditions if they were left out. */
  keys: { from: number; to: number };
}

/** Most comparisons. A source in use may change meanwhile; a source at rest is equal at the second comparison. */
const MAX_COMPARISONS = 3;
const HOUR_MS = 3_600_000;
/** Most entries of a page of due work. */
const PAGE = 1000;

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
 * The target must not be in use. The stores stay open.
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
  const mirror = new Mirror({ ...options, ...openSides(options), isBackup: false });
  const { to, retry, progress } = mirror;
  const identity = await retry(() => mirror.from.identity.forCopy(options.secret));
  const { source } = options;
  await begin(mirror, source);
  const startedAt = Date.now();
  await retry(() => to.identity.markMigration({ source, startedAt, finishedAt: null, seenMs: null }));
  const first = await mirror.copyAll(true);
  progress.phase = "comparing";
  mirror.reportProgress();
  const { keys, copied, removed, isSame } = await compare(mirror);
  const isComplete = isSame && mirror.failed.size === 0;
  if (isComplete) {
    await options.beforeFinish?.();
    await finish(mirror, identity);
    const seenMs = await retry(() => to.seenMs());
    await retry(() => to.identity.markMigration({ source, startedAt, finishedAt: Date.now(), seenMs }));
  }
  return { ...mirror.report({ ...first, copied: first.copied + copied }, removed, isComplete), keys };
}

/** Counts the keys to copy, and checks that the target may be written to. */
async function begin(mirror: Mirror, source: string): Promise<void> {
  const { from, to, retry } = mirror;
  // From another store of originals, a second run would remove those of the target.
  await retry(() => from.identity.inspect());
  await retry(() => to.identity.read());
  if ((await retry(() => from.identity.migration()))?.finishedAt === null) {
    throw refusal("the source is itself the target of an unfinished migration: finish that first");
  }
  const earlier = await retry(() => to.identity.migration());
  const isEmpty = await isEmptyTarget(mirror);
  if (earlier === null && !isEmpty) {
    throw refusal("the target is not empty, and no migration to it has begun: name an empty target");
  }
  if (earlier !== null && earlier.source !== source) {
    throw refusal(`the target was copied from another source (${earlier.source})`);
  }
  // A service notes the time as soon as it starts.
  if ((earlier?.finishedAt ?? null) !== null && (await retry(() => to.seenMs())) !== earlier?.seenMs) {
    throw refusal("the target has been in use since it was copied: name an empty target");
  }
  await requireApart(mirror);
  await mirror.countSource();
  if (!isEmpty) await requireImages(mirror, "target");
}

/** Gives the target what a service needs to start on it as on the source. */
async function finish({ from, to, retry }: Mirror, identity: StoreIdentity | null): Promise<void> {
  if (identity !== null) await retry(() => to.identity.carry(identity));
  const seenMs = await retry(() => from.seenMs());
  if (seenMs !== null) await retry(() => to.noteSeen(seenMs));
  // The target goes on with deletions of all images of an owner.
  const removals = await retry(() => from.due("removals").due(Date.now() + HOUR_MS, PAGE));
  for (const entry of removals) await retry(() => to.due("removals").add(entry));
}

/**
 * Compares the number of keys: every key of the source is in the target, so equal counts mean equal keys. If the counts
 * differ, each key is looked up on the other side, since a store may list a key twice.
 */
async function compare(mirror: Mirror) {
  const { from, to, roles } = mirror;
  const comparison = { keys: { from: 0, to: 0 }, copied: 0, removed: 0, isSame: false };
  for (let comparisons = 1; comparisons <= MAX_COMPARISONS && !comparison.isSame; comparisons++) {
    const here = await countKeys(from.stores, mirror);
    const there = await countKeys(to.stores, mirror);
    const sum = (counts: typeof here) => roles.reduce((total, role) => total + counts[role], 0);
    comparison.keys = { from: sum(here), to: sum(there) };
    const hasExtra = !roles.includes("renditions") && there.renditions > 0;
    comparison.isSame = !hasExtra && roles.every((role) => here[role] === there[role]);
    // Keys that could not be copied would be missing again.
    if (comparison.isSame || mirror.failed.size > 0) break;
    const removed = await mirror.removeExtra();
    const { copied }: Pass = await mirror.copyAll(false);
    comparison.removed += removed;
    comparison.copied += copied;
    comparison.isSame = removed === 0 && copied === 0;
  }
  return comparison;
}
