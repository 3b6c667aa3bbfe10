import type { Call } from "../contracts/call.ts";
import type { Logger } from "../contracts/logger.ts";

/** Receives failures. Never throws. */
export type FailureListener = (error: unknown, call?: Call) => void;

/** Errors that were already reported and need no further line in the log. */
const reported = new WeakSet<object>();

/**
 * Hides an error from every failure listener from now on: it was reported, and several requests fail with it.
 */
export function markReported(error: object): void {
  reported.add(error);
}

/**
 * The host's `onError`; otherwise its logger; otherwise the console. If one of them fails, that failure goes
 * to the console.
 */
export function failureListener(options: {
  onError?: FailureListener | undefined;
  logger?: Logger | undefined;
}): FailureListener {
  const { logger } = options;
  const tell: (error: unknown, call?: Call) => unknown =
    options.onError ??
    // Without the call: its URL may contain a secret.
    ((err) => (logger === undefined ? console.error(err) : logger.error({ err }, "failed")));
  return (error, call) => {
    if (typeof error === "object" && error !== null && reported.has(error)) return;
    try {
      // An async hook rejects instead of throwing.
      Promise.resolve(tell(error, call)).catch(console.error);
    } catch (failure) {
      console.error(failure);
    }
  };
}

/** The same logger; its own failures go to `onError`. @param logger absent: nothing is logged. */
export function safeLogger(logger: Logger | undefined, onError: (error: unknown) => void): Logger {
  return {
    info: (fields, message) => callSafely(() => logger?.info(fields, message), onError),
    warn: (fields, message) => callSafely(() => logger?.warn(fields, message), onError),
    error: (fields, message) => callSafely(() => logger?.error(fields, message), onError),
  };
}

/** Calls host code that may throw or reject, without waiting for it. */
export function callSafely(run: () => unknown, onError: (error: unknown) => void): void {
  new Promise((resolve) => resolve(run())).catch((error) => onError(error));
}
