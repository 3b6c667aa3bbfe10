/** A process at work, as far as its memory goes. */
export interface Watched {
  /** Bytes of resident memory now; `null` where the system does not say. */
  residentBytes(): number | null;
  /** It alone holds more than it may. */
  onExcess(): void;
  /** All together hold more than they may, and it was the last to begin. */
  onCrowding(): void;
}

export interface MemoryLimits {
  /** Bytes of resident memory of each process. */
  maxMemoryBytes: number;
  /** Bytes of resident memory of all of them together; one that is alone may hold what it may. */
  maxTotalMemoryBytes: number;
}

/** Looks at the memory of processes while they work. */
export interface MemoryWatch {
  /** @returns what ends the watching. */
  add(process: Watched): () => void;
}

/** A decoder takes some tens of megabytes meanwhile. */
const INTERVAL_MS = 50;

/** @param restingBytes tells what processes hold that are not at work, and count as well. */
export function createMemoryWatch(limits: MemoryLimits, restingBytes: () => number): MemoryWatch {
  /** In the order in which they began. */
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    let used = restingBytes();
    // A copy: whoever is told may end its watching at once.
    for (const [index, process] of [...watched].entries()) {
      const bytes = process.residentBytes();
      if (bytes === null) continue;
      used += bytes;
      if (bytes > limits.maxMemoryBytes) process.onExcess();
      else if (index > 0 && used > limits.maxTotalMemoryBytes) process.onCrowding();
    }
  }

  return {
    add(process) {
      watched.add(process);
      // A process at work keeps this one alive by itself.
      timer ??= setInterval(look, INTERVAL_MS).unref();
      return () => {
        watched.delete(process);
        if (watched.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
