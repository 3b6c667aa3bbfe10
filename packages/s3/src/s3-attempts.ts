import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "@outrigger/core";
import { isTransient, statusOf, storeError } from "./s3-errors.ts";
import { createWatchdog } from "./watchdog.ts";

/** One of the attempts at a piece of work. */
export interface Attempt {
  /** From 1. Of a later one, an earlier one may have done its work unnoticed. */
  number: number;
  /** Ends the attempt's requests: no progress, or nobody wants it any more. */
  signal: AbortSignal;
}

export interface AttemptOptions {
  /** Whoever waits does not any more: the work ends with its reason, and is not tried again. */
  signal?: AbortSignal | undefined;
  /** Whether the signal may still end the attempt; asked when it aborts. @default always */
  isAbortable?: () => boolean;
  /** Milliseconds that an attempt may make no progress for, beside the store's own time limit. @default 0 */
  allowanceMs?: number;
  /** A number that changes with progress. @default it makes none before its end */
  progress?: () => number;
}

/** Does work that consists of requests: within time limits, and again where that can help. */
export interface Attempts {
  /** Throws `store_unavailable` once they are closed. */
  checkOpen(): void;
  /** Rejects with the signal's reason or a `ServiceError`. */
  run<T>(work: (attempt: Attempt) => Promise<T>, options?: AttemptOptions): Promise<T>;
  /** Ends what is under way, and lets nothing begin any more. */
  close(): void;
}

/** Where there was no answer, and where the service answered that it is busy: Ceph does when writes of an object race. */
const MAX_SILENT_ATTEMPTS = 3;
const MAX_ATTEMPTS = 8;
const BACKOFF_MS = 25;
const MAX_BACKOFF_MS = 400;

export function createAttempts(timeoutMs: number): Attempts {
  const underWay = new Set<AbortController>();
  let closed = false;

  function checkOpen(): void {
    if (closed) throw new ServiceError("store_unavailable", "The store is closed");
  }

  async function once<T>(
    number: number,
    work: (attempt: Attempt) => Promise<T>,
    options: AttemptOptions,
  ): Promise<T> {
    const { signal, isAbortable = () => true, allowanceMs = 0, progress } = options;
    const controller = new AbortController();
    const watchdog = createWatchdog(timeoutMs + allowanceMs, (error) => controller.abort(error), progress);
    const leave = () => {
      if (isAbortable()) controller.abort(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    underWay.add(controller);
    try {
      return await Promise.race([work({ number, signal: controller.signal }), rejection(controller.signal)]);
    } catch (error) {
      // The SDK has an error of its own for it.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      watchdog.stop();
      signal?.removeEventListener("abort", leave);
      underWay.delete(controller);
    }
  }

  return {
    checkOpen,

    async run(work, options = {}) {
      const { signal, allowanceMs = 0 } = options;
      // A service that is silent is not waited for three times.
      const lastStartMs = performance.now() + 2 * (timeoutMs + allowanceMs) - 1;
      for (let number = 1; ; number++) {
        checkOpen();
        signal?.throwIfAborted();
        try {
          return await once(number, work, options);
        } catch (error) {
          if (signal?.aborted && error === signal.reason) throw error;
          const most = statusOf(error) === undefined ? MAX_SILENT_ATTEMPTS : MAX_ATTEMPTS;
          const isLast = number >= most || performance.now() >= lastStartMs || signal?.aborted;
          if (isLast || closed || !isTransient(error)) throw storeError(error);
        }
        await delay(Math.min(BACKOFF_MS * 2 ** number, MAX_BACKOFF_MS) * Math.random());
      }
    },

    close() {
      closed = true;
      for (const controller of underWay) {
        controller.abort(new ServiceError("store_unavailable", "The store is closed"));
      }
    },
  };
}

/** Work may not hear the signal: it may wait for credentials, say. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
