import { finished, Readable } from "node:stream";
import { preset, value } from "../option-rules.ts";

/** The requests and calls in code of a service that are under way. */
export interface InFlight {
  /** Whether no new calls are wanted. */
  readonly isClosing: boolean;
  /** Counts `work` until it settles; where its result has a stream as `body`, until that ended. */
  track<T>(work: Promise<T>): Promise<T>;
  /** From now on no new calls are wanted; resolves when none is under way, at the latest after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

/** Longest delay of a Node timer; `setTimeout` takes a longer one for 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The options of a service's `close()`. A time that is left until a deadline need not be whole. */
export const CLOSE_RULES = {
  timeoutMs: preset(
    10_000,
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
