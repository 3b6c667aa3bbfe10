import { setTimeout as delay } from "node:timers/promises";
import { isError, isServiceError } from "../../errors.ts";

/** Does work again while a store is away. Rejects with what it failed with last. */
export type Retry = <T>(work: () => Promise<T>) => Promise<T>;

export interface RetryOptions {
  /** From the first failure on. */
  patienceMs: number;
  signal?: AbortSignal | undefined;
  /** Whether all stores answer: then what fails all the same will not get better by waiting. */
  areThere(): Promise<boolean>;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** What fails so often while the stores answer is not the stores' being away. */
const MAX_ATTEMPTS = 4;

export function createRetry({ patienceMs, signal, areThere }: RetryOptions): Retry {
  return async (work) => {
    let failedAt: number | null = null;
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        failedAt ??= performance.now();
        // A full store does not become empty by waiting.
        if (isServiceError(error, "no_space") || performance.now() - failedAt >= patienceMs) throw error;
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

/** What an error and those underneath say, in one line without a full stop. */
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
