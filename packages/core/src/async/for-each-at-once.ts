/**
 * Calls `work` for each item, at most `limit` at a time, and reads no items ahead. After a failure or an
 * abort no further call begins; the promise rejects once the running calls have settled.
 */
export async function forEachAtOnce<T>(
  items: AsyncGenerator<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  const iterator = Symbol.asyncIterator in items ? items : items[Symbol.iterator]();
  async function runWorker(): Promise<void> {
    try {
      while (failures.length === 0 && !signal?.aborted) {
        const next = await iterator.next();
        if (next.done) return;
        await work(next.value);
      }
    } catch (error) {
      failures.push(error);
    }
  }
  await Promise.all(Array.from({ length: limit }, runWorker));
  await iterator.return?.(undefined);
  if (failures.length > 0) throw failures[0];
  signal?.throwIfAborted();
}
