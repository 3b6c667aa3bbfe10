import { setTimeout as delay } from "node:timers/promises";
import { checkOptions } from "../../check-options.ts";
import { abortSignal, imageStorage } from "../../contract-rules.ts";
import type { StoredBlob } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { flag, fn, preset, type RuleTable, required, shape, whole } from "../../option-rules.ts";
import { createDueList, type DueList } from "../../stores/due-list.ts";
import { readAll } from "../../stores/read-all.ts";
import { defaultSettings, IMAGES_RULES, imageSettings } from "../image-settings.ts";
import { createLife } from "../life/create-life.ts";
import type { LifeContext } from "../life/life-context.ts";
import { createRetry, type Retry, reasonIn } from "../migrate/create-retry.ts";
import { type ImageRecord, idOfRecord } from "../record/image-record.ts";
import { rolesOf, type StorageRoles } from "../record/storage-roles.ts";
import { removeStored } from "../renditions/remove-stored.ts";
import { createAdminGuard } from "../store/store-guard.ts";
import type {
  PlannedRemovals,
  VerifyFinding,
  VerifyOptions,
  VerifyProblem,
  VerifyProgress,
  VerifyReport,
} from "./verify-options.ts";

/** State shared by the parts of a verification. */
export interface VerifyContext {
  stores: StorageRoles;
  /** Changes images in the same way as a service. */
  life: LifeContext;
  jobs: DueList;
  isRepair: boolean;
  /** `undefined`: few. */
  maxRemovals: number | undefined;
  onRemovals(planned: PlannedRemovals): void;
  /** Findings that are removed when everything was checked. */
  planned: VerifyFinding[];
  /** Whether a repair may remove anything. */
  mayRemove: boolean;
  backup: StorageRoles | null;
  concurrency: number;
  signal: AbortSignal | undefined;
  now: () => number;
  retry: Retry;
  areThere(): Promise<boolean>;
  /** Await it after each read: it limits the rate. @param bytes Number of bytes read. */
  pace(bytes: number): Promise<void>;
  report: VerifyReport;
  progress: VerifyProgress;
  tell(): void;
  found(finding: VerifyFinding): void;
}

const RULES = {
  storage: required(imageStorage),
  repair: preset(false, flag()),
  maxRemovals: whole(0),
  onRemovals: fn(),
  backup: imageStorage,
  maxBytesPerSecond: preset(50e6, whole(1)),
  concurrency: preset(4, whole(1, 256)),
  patienceMs: preset(60_000, whole(0)),
  tombstoneDays: IMAGES_RULES.tombstoneDays,
  onRemoved: IMAGES_RULES.onRemoved,
  now: IMAGES_RULES.now,
  onError: preset(() => undefined, fn()),
  state: shape("a state received by saveState"),
  saveState: fn(),
  signal: abortSignal,
  onFinding: fn(),
  onProgress: fn(),
} satisfies RuleTable<VerifyOptions>;

export function createVerifyContext(given: VerifyOptions): VerifyContext {
  const options = checkOptions("verifyStorage", given, RULES);
  const { concurrency, patienceMs, maxBytesPerSecond, signal, state } = options;
  const { tombstoneDays, onError, onRemoved, now, maxRemovals } = options;
  const settings = imageSettings({
    ...defaultSettings("verifyStorage"),
    ...{ tombstoneDays, onError, onRemoved, now },
  });
  const stores = rolesOf(options.storage);
  const backup = options.backup === undefined ? null : rolesOf(options.backup);
  const all = new Set([...Object.values(stores), ...(backup === null ? [] : Object.values(backup))]);
  const areThere = async () => {
    const looks = await Promise.allSettled([...all].map((store) => store.stat("migration/state")));
    return looks.every(({ status }) => status === "fulfilled");
  };
  const none = {
    images: 0,
    bytes: 0,
    defects: 0,
    repaired: 0,
    newer: 0,
    unrestorable: 0,
    orphans: 0,
    undecided: 0,
  };
  const report = state?.report ?? none;
  const { keys = 0, totalKeys = 0 } = state ?? {};
  const progress: VerifyProgress = { phase: "counting", keys, totalKeys, bytes: report.bytes };
  const tell = () => options.onProgress?.(progress);
  const guard = createAdminGuard(stores, settings.log, { acceptUnmarked: maxRemovals !== undefined });
  const wait = createPace(maxBytesPerSecond, signal);
  return {
    stores,
    life: createLife(stores, settings, guard, (id) => removeStored(stores, id)).life,
    jobs: createDueList(stores.records, "jobs"),
    isRepair: options.repair,
    maxRemovals,
    onRemovals: (planned) => options.onRemovals?.(planned),
    planned: [...(state?.planned ?? [])],
    mayRemove: options.repair,
    ...{ backup, concurrency, signal, now: settings.now, areThere, progress, tell },
    report: { ...report },
    retry: createRetry({ patienceMs, signal, areThere }),
    async pace(bytes) {
      progress.bytes += bytes;
      tell();
      await wait(bytes);
    },
    found(finding) {
      if (finding.what === "newer") this.report.newer++;
      else this.report.defects++;
      if (finding.repair !== null && finding.repair !== "failed") this.report.repaired++;
      options.onFinding?.(finding);
    },
  };
}

/** Shorter pauses are added to the next one. */
const LEAST_PAUSE_MS = 10;

function createPace(bytesPerSecond: number, signal: AbortSignal | undefined): VerifyContext["pace"] {
  let freeAt = performance.now();
  return async (bytes) => {
    const now = performance.now();
    freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1000;
    if (freeAt - now < LEAST_PAUSE_MS) return;
    // An abort takes effect at the next key.
    await delay(freeAt - now, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  };
}

/** Checks one key, with retries. A key for which the store fails, although it answers for others, is a finding. */
export async function attempt(context: VerifyContext, key: string, work: () => Promise<void>): Promise<void> {
  try {
    await context.retry(work);
  } catch (error) {
    if (context.signal?.aborted || isServiceError(error, "no_space") || !(await context.areThere()))
      throw error;
    const detail = `its store cannot read it: ${reasonIn(error)}`;
    context.found({ id: idOfRecord(key), key, what: "unreadable", detail, repair: null });
  }
}

/** A blob read into memory. */
export interface SmallBlob extends Omit<StoredBlob, "body"> {
  bytes: Buffer;
}

/** A problem of a blob, seen twice at one revision. */
export interface Suspicion<T> {
  trouble: T;
  blob: SmallBlob;
}

/** Most reads of a blob that changes between reads. */
const MAX_LOOKS = 10;

/**
 * Checks a blob of the records' store. A problem counts only if two reads at the same revision find it. `null`: there is no
 * problem, or the blob is gone.
 */
export async function suspect<T>(
  { stores: { records } }: VerifyContext,
  key: string,
  judge: (bytes: Buffer) => Promise<T | null>,
): Promise<Suspicion<T> | null> {
  let seen: string | null = null;
  for (let look = 1; ; look++) {
    const found = await records.get(key);
    if (found === null) return null;
    const { body, ...info } = found;
    const blob = { ...info, bytes: await readAll(body) };
    const trouble = await judge(blob.bytes);
    if (trouble === null) return null;
    if (blob.revision === seen || look === MAX_LOOKS) return { trouble, blob };
    seen = blob.revision;
  }
}

/** A problem of an image. */
export interface ImageTrouble {
  what: VerifyProblem;
  detail: string;
  /** `null`: the record cannot be read. */
  record: ImageRecord | null;
}
