import { RedisTimeoutError } from "./redis-errors.ts";

/**
 * Rejects with a `RedisTimeoutError` if `work` takes longer than `timeoutMs`.
 * @param explain Returns the error to reject with. @default the same
 */
export function beforeDeadline<T>(
  work: Promise<T>,
  timeoutMs: number,
  explain: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // If this process was busy, the reply may be in the socket already: it is read before this callback runs.
      setImmediate(() => reject(explain(new RedisTimeoutError(timeoutMs))));
    }, timeoutMs);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(explain(error));
      },
    );
  });
}
