/**
 * Resolves like `work`, or rejects with the signal's reason as soon as it aborts. The work goes on; its
 * result is dropped.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? work : unlessAborted(work, signal);
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    const end = () => signal.removeEventListener("abort", leave);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave);
    work.then(resolve, reject).then(end);
  });
}
