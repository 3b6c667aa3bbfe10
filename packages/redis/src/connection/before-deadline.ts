import { RedisTimeoutError } from "./redis-errors.ts";

/** Rejects when `work` takes too long. */
export function beforeDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // A process that was busy itself may have the answer already: it is read before this runs.
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
