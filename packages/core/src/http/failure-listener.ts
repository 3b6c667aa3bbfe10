import type { Call } from "../contracts/call.ts";
import type { Logger } from "../images/images-options.ts";

/** Told of failures. Never throws. */
export type FailureListener = (error: unknown, call?: Call) => void;

/** Who the host wants to be told of failures: `onError`, else its logger, else the console. */
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
    try {
      tell(error, call);
    } catch (failure) {
      // Whoever hears of failures must not cause others.
      console.error(failure);
    }
  };
}
