import type { Call } from "../contracts/call.ts";
import type { Logger } from "../contracts/logger.ts";

/** Receives failures. Never throws. */
export type FailureListener = (error: unknown, call?: Call) => void;

/** Errors that need no other line in the log. */
const reported = new WeakSet<object>();

/** Keeps an error from every failure listener from now on: it was reported, and more requests than one fail with it. */
export function markReported(error: object): void {
  reported.add(error);
}

/** The host's `onError`, else its logger, else the console. A failure of theirs goes to the console. */
export function failureListener(options: {
  onError?: FailureListener | undefined;
  logger?: Logger | undefined;
}): FailureListener {
  const { logger } = options;
  const tell: (error: unknown, call?: Call) => unknown =
    options.onError ??
    // Without the call: its address may hold a secret.
    ((err) => (logger === undefined ? console.error(err) : logger.error({ err }, "failed")));
  return (error, call) => {
    if (typeof error === "object" && error !== null && reported.has(error)) return;
    try {
      // An async hook rejects where others throw.
      Promise.resolve(tell(error, call)).catch(console.error);
    } catch (failure) {
      console.error(failure);
    }
  };
}

/** The same logger, without its failures: they go to `onError`. @param logger absent: nothing is logged. */
export function safeLogger(logger: Logger | undefined, onError: (error: unknown) => void): Logger {
  return {
    info: (fields, message) => callSafely(() => logger?.info(fields, message), onError),
    warn: (fields, message) => callSafely(() => logger?.warn(fields, message), onError),
    error: (fields, message) => callSafely(() => logger?.error(fields, message), onError),
  };
}

/** Calls code of the host that may throw, at once or later, and that nothing waits for. */
export function callSafely(run: () => unknown, onError: (error: unknown) => void): void {
  const call = async () => {
    await run();
  };
  void call().catch((error) => onError(error));
}
