/**
 * Calls `work` for each item, at most `limit` at a time, and reads no more items ahead. Where one fails or the signal aborts,
 * no other is begun; it rejects when those under way are through.
 */
export async function forEachAtOnce<T>(
  items: AsyncGenerator<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  async function takeOnes(): Promise<void> {
    try {
      while (failures.length === 0 && !signal?.aborted) {
        const next = await items.next();
        if (next.done) return;
        await work(next.value);
      }
    } catch (error) {
      failures.push(error);
    }
  }
  await Promise.all(Array.from({ length: limit }, takeOnes));
  await items.return(undefined);
  if (failures.length > 0) throw failures[0];
  signal?.throwIfAborted();
}
