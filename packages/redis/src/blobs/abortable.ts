/** As `work`, or rejects with the signal's reason as soon as that aborts; `work` goes on unheard. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? work : unlessAborted(work, signal);
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
  }
}
