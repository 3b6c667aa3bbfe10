import type { Call } from "../contracts/call.ts";
import type { Logger } from "../contracts/logger.ts";

/** Gets failures. Never throws. */
export type FailureListener = (error: unknown, call?: Call) => void;

/** Errors that need no other line in the log. */
const reported = new WeakSet<object>();

/** Keeps an error from every failure listener from now on: it was reported, and more requests than one fail with it. */
export function markReported(error: object): void {
  reported.add(error);
}

/** Reports failures to `onError`, else to the logger of the host, else to the console. */
export function failureListener(options: {
  onError?: FailureListener | undefined;
  logger?: Logger | undefined;
}): FailureListener {
  const { logger } = options;
  const tell =
    options.onError ??
    // Without the call: its address may hold a secret.
    ((err: unknown) => (logger === undefined ? console.error(err) : logger.error({ err }, "failed")));
  return (error, call) => {
    if (typeof error === "object" && error !== null && reported.has(error)) return;
    try {
      tell(error, call);
    } catch (failure) {
      // A listener that throws must not cause a further failure.
      console.error(failure);
    }
  };
}
