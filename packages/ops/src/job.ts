import { setTimeout as delay } from "node:timers/promises";
import { isServiceError, ServiceError } from "@outrigger/core";
import { forEachAtOnce, type StoredImages } from "@outrigger/core/storage";
import type { BlobStore } from "@outrigger/core/stores";
import { accessReason, isError } from "@outrigger/core/values";
import type { StorageProgress, StorageRunOptions, StorageTrouble } from "./options.ts";

/** Retries work while a store is unavailable. Rejects with the last failure. */
export type Retry = <T>(work: () => Promise<T>) => Promise<T>;

/** A failure to read from the source. */
export class SourceError extends Error {
  constructor(cause: unknown) {
    super(reasonIn(cause), { cause });
    this.name = "SourceError";
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

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** Work that fails this often while the stores answer has another cause. */
const MAX_ATTEMPTS = 4;

export interface JobSettings extends Pick<StorageRunOptions, "signal" | "onProgress"> {
  from: StoredImages;
  to: StoredImages;
  concurrency: number;
  patienceMs: number;
}

/** What one run shares between its parts: two storages, retries, progress and problems. */
export class Job {
  readonly from: StoredImages;
  readonly to: StoredImages;
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly progress: StorageProgress = { phase: "counting", keys: 0, totalKeys: 0, bytes: 0 };
  /** Reasons by key: what the source has lost or cannot read. */
  readonly damaged = new Map<string, string>();
  /** Reasons by key: what did not arrive. */
  readonly failed = new Map<string, string>();
  readonly #patienceMs: number;
  readonly #onProgress: StorageRunOptions["onProgress"];

  constructor({ from, to, concurrency, patienceMs, signal, onProgress }: JobSettings) {
    this.from = from;
    this.to = to;
    this.concurrency = concurrency;
    this.signal = signal;
    this.#patienceMs = patienceMs;
    this.#onProgress = onProgress;
  }

  /** Reports the progress: call it after a change. */
  reportProgress(): void {
    this.#onProgress?.(this.progress);
  }

  /** Await it after reading bytes of an original. A verification counts them, and limits their rate. */
  async paced(_bytes: number): Promise<void> {}

  readonly retry: Retry = async (work) => {
    let failedAt: number | null = null;
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        failedAt ??= performance.now();
        // Waiting does not empty a full store, nor does it change which store this is.
        const isFinal = isServiceError(error, "no_space") || isRefusedStore(error);
        if (isFinal || performance.now() - failedAt >= this.#patienceMs) throw error;
        // A missing permission stays missing.
        const isLasting = attempt >= MAX_ATTEMPTS || accessReason(error) !== undefined;
        if (isLasting && (await this.areThere())) throw error;
      }
      this.signal?.throwIfAborted();
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
      await delay(pauseMs, undefined, this.signal === undefined ? {} : { signal: this.signal }).catch(
        (error) => {
          this.signal?.throwIfAborted();
          throw error;
        },
      );
    }
  };

  /** Whether all stores answer, so that waiting does not help. */
  async areThere(): Promise<boolean> {
    const stores = new Set<BlobStore>([...Object.values(this.from.stores), ...Object.values(this.to.stores)]);
    const answers = await Promise.allSettled([...stores].map((store) => store.stat("migration/state")));
    return answers.every(({ status }) => status === "fulfilled");
  }

  /** Calls `work` for each key, as many at a time as the options say. */
  async each(
    keys: AsyncGenerator<string> | Iterable<string>,
    work: (key: string) => Promise<void>,
  ): Promise<void> {
    await forEachAtOnce(keys, this.concurrency, work, this.signal);
  }

  /**
   * Runs work on one key, with retries. Notes a key that fails, so that the others continue.
   * Rejects if a store is unavailable or full.
   */
  async tryKey<T>(key: string, work: () => Promise<T>): Promise<T | "failed"> {
    try {
      const done = await this.retry(work);
      // An earlier attempt may have failed.
      this.failed.delete(key);
      return done;
    } catch (error) {
      const isLasting =
        !this.signal?.aborted && !isServiceError(error, "no_space") && (await this.areThere());
      if (isLasting) this.note(key, error);
      else if (error instanceof SourceError) {
        const message = "The source cannot be read: check that its store is available";
        throw new ServiceError("store_unavailable", message, { cause: error.cause });
      } else throw error;
      return "failed";
    }
  }

  /** Notes a key that failed although the stores answer. */
  protected note(key: string, error: unknown): void {
    if (error instanceof SourceError) this.damaged.set(key, `cannot be read: ${error.message}`);
    else this.failed.set(key, reasonIn(error));
  }
}

/** A store refused as another one, or of a newer release, names its role. */
function isRefusedStore(error: unknown): boolean {
  return isServiceError(error, "store_unavailable") && "role" in error;
}

export function troublesOf(reasons: ReadonlyMap<string, string>): StorageTrouble[] {
  return [...reasons].map(([key, reason]) => ({ key, reason }));
}

/** The messages of an error and its causes, in one line without a full stop. For a missing permission, with the remedy. */
export function reasonIn(error: unknown): string {
  const access = accessReason(error);
  if (access !== undefined) return access;
  const said: string[] = [];
  for (let each = error; each !== undefined && each !== null; ) {
    const [line = ""] = (isError(each) ? each.message : String(each)).split("\n");
    const text = line.replace(/\.$/, "");
    if (text !== "" && !said.some((other) => other.includes(text))) said.push(text);
    each = isError(each) ? each.cause : null;
  }
  return said.join(": ");
}
