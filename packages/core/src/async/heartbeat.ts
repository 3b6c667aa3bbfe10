/**
 * Calls `renew` every `everyMs` until it is stopped. After a failure the next beat tries again. The timer
 * does not keep the process alive; a lease that is no longer renewed then expires.
 * @returns a function that stops the heartbeat.
 */
export function startHeartbeat(
  everyMs: number,
  renew: () => Promise<unknown>,
  onError: (error: unknown) => void,
): () => void {
  const timer = setInterval(() => void renew().catch(onError), everyMs).unref();
  return () => clearInterval(timer);
}
