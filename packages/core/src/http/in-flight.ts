import { finished, Readable } from "node:stream";
import { preset, value } from "../option-rules.ts";

/** The requests and library calls of a service that are in progress. */
export interface InFlight {
  /** Whether new calls are rejected. */
  readonly isClosing: boolean;
  /**
   * Counts `work` until it settles. If its result has a stream as `body`, it counts until the stream has
   * ended.
   */
  track<T>(work: Promise<T>): Promise<T>;
  /** Rejects new calls from now on; resolves when none is in progress, or after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

/** Longest delay of a Node timer; `setTimeout` treats a longer one as 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The options of a service's `close()`. The time until a deadline need not be a whole number. */
export const CLOSE_RULES = {
  timeoutMs: preset(
    8000,
    value(`a number of milliseconds from 0 to ${MAX_TIMER_MS}`, (given) => {
      return typeof given === "number" && given >= 0 && given <= MAX_TIMER_MS;
    }),
  ),
};

export function createInFlight(): InFlight {
  let count = 0;
  let isClosing = false;
  let onIdle: (() => void) | null = null;

  function end(): void {
    count--;
    if (count === 0) onIdle?.();
  }

  return {
    get isClosing() {
      return isClosing;
    },
    async track(work) {
      count++;
      let body: unknown;
      try {
        const result = await work;
        body = bodyOf(result);
        return result;
      } finally {
        if (body instanceof Readable) finished(body, end);
        else end();
      }
    },
    async drain(timeoutMs) {
      isClosing = true;
      if (count === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        onIdle = resolve;
        timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
    },
  };
}

function bodyOf(result: unknown): unknown {
  return typeof result === "object" && result !== null && "body" in result ? result.body : undefined;
}
