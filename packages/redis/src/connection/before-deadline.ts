import { RedisTimeoutError } from "./redis-errors.ts";

/** Rejects with a `RedisTimeoutError` if `work` takes longer than `timeoutMs`. */
export function beforeDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // If this process was busy, the reply may be in the socket already: it is read before this callback runs.
      setImmediate(() => reject(new RedisTimeoutError(timeoutMs)));
    }, timeoutMs);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
