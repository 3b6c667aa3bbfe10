import { abortSignal, imageStorage } from "../../contract-rules.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { type Checked, flag, fn, preset, type RuleTable, required, whole } from "../../option-rules.ts";
import { createDueList, type DueList } from "../../stores/due-list.ts";
import { rolesOf, type StorageRoles } from "../record/storage-roles.ts";
import { createRetry, type Retry, reasonIn } from "./create-retry.ts";
import type { MigrateOptions, MigrationProgress, MigrationTrouble } from "./migrate-options.ts";

/** A failure to read from the source. */
export class SourceError extends Error {
  constructor(cause: unknown) {
    super(reasonIn(cause), { cause });
    this.name = "SourceError";
  }
}

/**
 * `migrate` makes the target equal to the source, damage included. `backup` leaves renditions out, and keeps the target's
 * good copies of keys that are damaged at the source.
 */
export type CopyMode = "migrate" | "backup";

/** State shared by the parts of a migration. */
export interface MigrationContext {
  mode: CopyMode;
  from: StorageRoles;
  to: StorageRoles;
  /** Due lists of the target. */
  due: Record<"images" | "jobs" | "claims" | "clock" | "renditions", DueList>;
  verify: boolean;
  /** Roles in the order of copying: bytes before the records that name them. */
  roles: StoreRole[];
  concurrency: number;
  /** Whether the target had no key when the run began, so that nothing needs to be looked up there. */
  isFresh: boolean;
  /** Keys of the source, estimated at first, and exact once they are listed. */
  expected: Record<StoreRole, number>;
  signal: AbortSignal | undefined;
  retry: Retry;
  /** Whether all stores answer. */
  areThere(): Promise<boolean>;
  progress: MigrationProgress;
  /** Call it when `progress` has changed. */
  tell(): void;
  /** Reasons by key. */
  damaged: Map<string, string>;
  failed: Map<string, string>;
}

/** Options common to all copies. */
export type CopyOptions = Omit<MigrateOptions, "source" | "secret" | "beforeFinish">;

export const COPY_RULES = {
  from: required(imageStorage),
  to: required(imageStorage),
  verify: preset(false, flag()),
  withRenditions: preset(true, flag()),
  concurrency: preset(8, whole(1, 256)),
  patienceMs: preset(60_000, whole(0)),
  signal: abortSignal,
  onProgress: fn(),
} satisfies RuleTable<CopyOptions>;

export function createMigrationContext(
  options: Checked<CopyOptions, typeof COPY_RULES>,
  mode: CopyMode = "migrate",
): MigrationContext {
  const { verify, withRenditions, concurrency, patienceMs, signal } = options;
  const from = rolesOf(options.from);
  const to = rolesOf(options.to);
  const stores = new Set([...Object.values(from), ...Object.values(to)]);
  const areThere = async () => {
    const looks = await Promise.allSettled([...stores].map((store) => store.stat("migration/state")));
    return looks.every(({ status }) => status === "fulfilled");
  };
  const progress: MigrationProgress = { phase: "counting", keys: 0, totalKeys: 0, bytes: 0 };
  const listOf = (name: string) => createDueList(to.records, name);
  const hasRenditions = withRenditions && mode === "migrate";
  return {
    mode,
    from,
    to,
    due: {
      images: listOf("images"),
      jobs: listOf("jobs"),
      claims: listOf("claims"),
      clock: listOf("clock"),
      renditions: listOf("renditions"),
    },
    verify,
    roles: hasRenditions ? ["originals", "renditions", "records"] : ["originals", "records"],
    concurrency,
    isFresh: false,
    expected: { records: 0, originals: 0, renditions: 0 },
    signal,
    retry: createRetry({ patienceMs, signal, areThere }),
    areThere,
    progress,
    tell: () => options.onProgress?.(progress),
    damaged: new Map(),
    failed: new Map(),
  };
}

/**
 * Runs work on one key, with retries. Notes a key that fails, so that the others continue.
 * Rejects if a store is unavailable or full.
 */
export async function attempt<T>(
  { retry, areThere, signal, damaged, failed }: MigrationContext,
  key: string,
  work: () => Promise<T>,
): Promise<T | "failed"> {
  try {
    const done = await retry(work);
    // An earlier attempt may have failed.
    failed.delete(key);
    return done;
  } catch (error) {
    const isSource = error instanceof SourceError;
    if (signal?.aborted || isServiceError(error, "no_space") || !(await areThere())) {
      throw isSource
        ? new ServiceError(
            "store_unavailable",
            "The source cannot be read: check that its store is available",
            { cause: error.cause },
          )
        : error;
    }
    if (isSource) damaged.set(key, `cannot be read: ${error.message}`);
    else failed.set(key, reasonIn(error));
    return "failed";
  }
}

/** Wraps errors of work on the source in {@link SourceError}. */
export async function fromSource<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new SourceError(error);
  }
}

export function troublesOf(reasons: ReadonlyMap<string, string>): MigrationTrouble[] {
  return [...reasons].map(([key, reason]) => ({ key, reason }));
}
