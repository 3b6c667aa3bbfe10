/**
 * Calls `renew` every `everyMs` until it is stopped. After a failure the next beat tries again. Keeps no process alive: what
 * it renews then runs out.
 * @returns stops it.
 */
export function startHeartbeat(
  everyMs: number,
  renew: () => Promise<unknown>,
  onError: (error: unknown) => void,
): () => void {
  const timer = setInterval(() => void renew().catch(onError), everyMs).unref();
  return () => clearInterval(timer);
}
