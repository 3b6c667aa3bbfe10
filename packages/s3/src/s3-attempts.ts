import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "@outrigger/core";
import { abortable } from "@outrigger/core/stores";
import { isTransient, statusOf, storeError } from "./s3-errors.ts";
import { createWatchdog } from "./watchdog.ts";

/** One attempt at a piece of work. */
export interface Attempt {
  /** Counts from 1. Before a later attempt, an earlier one may have succeeded although its reply was lost. */
  number: number;
  /** Aborts the attempt's requests: it made no progress, or its caller or the store aborted it. */
  signal: AbortSignal;
}

export interface AttemptOptions {
  /** Signal of the caller. When it aborts, the work rejects with its reason and is not retried. */
  signal?: AbortSignal | undefined;
  /** Whether the signal may still abort the attempt; called when it aborts. @default always */
  isAbortable?: () => boolean;
  /**
   * Time without progress that an attempt has in addition to the store's time limit, in milliseconds.
   * @default 0
   */
  allowanceMs?: number;
  /** Returns a number that changes with progress. @default no progress until the attempt ends */
  progress?: () => number;
}

/**
 * Attempts without a reply, and attempts that the service answered as busy: Ceph does if writes of an object
 * race.
 */
const MAX_SILENT_ATTEMPTS = 3;
const MAX_ATTEMPTS = 8;
const BACKOFF_MS = 25;
const MAX_BACKOFF_MS = 400;

/** Runs work that consists of requests, with time limits and retries. */
export class Attempts {
  readonly #timeoutMs: number;
  readonly #underWay = new Set<AbortController>();
  #isClosed = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Throws `store_unavailable` if it is closed. */
  checkOpen(): void {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The store is closed");
  }

  /** Rejects with the signal's reason or a `ServiceError`. */
  async run<T>(work: (attempt: Attempt) => Promise<T>, options: AttemptOptions = {}): Promise<T> {
    const { signal, allowanceMs = 0 } = options;
    // Two time limits, so that a silent service is not tried three times.
    const lastStartMs = performance.now() + 2 * (this.#timeoutMs + allowanceMs) - 1;
    for (let number = 1; ; number++) {
      this.checkOpen();
      signal?.throwIfAborted();
      try {
        return await this.#once(number, work, options);
      } catch (error) {
        if (signal?.aborted && error === signal.reason) throw error;
        const most = statusOf(error) === undefined ? MAX_SILENT_ATTEMPTS : MAX_ATTEMPTS;
        const isLast = number >= most || performance.now() >= lastStartMs || signal?.aborted;
        if (isLast || this.#isClosed || !isTransient(error)) throw storeError(error);
      }
      await delay(Math.min(BACKOFF_MS * 2 ** number, MAX_BACKOFF_MS) * Math.random());
    }
  }

  /** Aborts the work under way and rejects all later work. */
  close(): void {
    this.#isClosed = true;
    for (const controller of this.#underWay) {
      controller.abort(new ServiceError("store_unavailable", "The store is closed"));
    }
  }

  async #once<T>(
    number: number,
    work: (attempt: Attempt) => Promise<T>,
    { signal, isAbortable = () => true, allowanceMs = 0, progress }: AttemptOptions,
  ): Promise<T> {
    const controller = new AbortController();
    const watchdog = createWatchdog(
      this.#timeoutMs + allowanceMs,
      (error) => controller.abort(error),
      progress,
    );
    const leave = () => {
      if (isAbortable()) controller.abort(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.#underWay.add(controller);
    try {
      // The work itself may ignore the signal, for example while it waits for credentials.
      return await abortable(work({ number, signal: controller.signal }), controller.signal);
    } catch (error) {
      // The SDK throws its own error for an aborted request.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      watchdog.stop();
      signal?.removeEventListener("abort", leave);
      this.#underWay.delete(controller);
    }
  }
}
