import { setTimeout as delay } from "node:timers/promises";
import { isError, isServiceError } from "../../errors.ts";
import { StoreRefused } from "../store/store-identity.ts";

/** Retries work while a store is unavailable. Rejects with the last failure. */
export type Retry = <T>(work: () => Promise<T>) => Promise<T>;

export interface RetryOptions {
  /** Time to retry after the first failure, in milliseconds. */
  patienceMs: number;
  signal?: AbortSignal | undefined;
  /** Whether all stores answer, so that waiting does not help. */
  areThere(): Promise<boolean>;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** Work that fails this often while the stores answer has another cause. */
const MAX_ATTEMPTS = 4;

export function createRetry({ patienceMs, signal, areThere }: RetryOptions): Retry {
  return async (work) => {
    let failedAt: number | null = null;
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        failedAt ??= performance.now();
        // Waiting does not empty a full store, nor does it change which store this is.
        if (
          isServiceError(error, "no_space") ||
          error instanceof StoreRefused ||
          performance.now() - failedAt >= patienceMs
        )
          throw error;
        if (attempt >= MAX_ATTEMPTS && (await areThere())) throw error;
      }
      signal?.throwIfAborted();
      await delay(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)), undefined, {
        ...(signal === undefined ? {} : { signal }),
      }).catch((error) => {
        signal?.throwIfAborted();
        throw error;
      });
    }
  };
}

/** The messages of an error and its causes, in one line without a full stop. */
export function reasonIn(error: unknown): string {
  const said: string[] = [];
  for (let each = error; each !== undefined && each !== null; ) {
    const [line = ""] = (isError(each) ? each.message : String(each)).split("\n");
    const text = line.replace(/\.$/, "");
    if (text !== "" && !said.some((other) => other.includes(text))) said.push(text);
    each = isError(each) ? each.cause : null;
  }
  return said.join(": ");
}
