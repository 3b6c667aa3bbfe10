/** A process at work, as far as its memory goes. */
export interface Watched {
  /** Bytes of resident memory now; `null` where the system does not say. */
  residentBytes(): number | null;
  /** Called when this process alone exceeds its limit. */
  onExcess(): void;
  /** Called when all together exceed theirs, and this process was the last to begin. */
  onCrowding(): void;
}

export interface MemoryLimits {
  /** Bytes of resident memory of each process. */
  maxMemoryBytes: number;
  /** Bytes of resident memory of all of them together. It does not bind a process that is alone. */
  maxTotalMemoryBytes: number;
}

/** Measures the memory of processes while they work. */
export interface MemoryWatch {
  /** @returns a function that ends the watching. */
  add(process: Watched): () => void;
}

/** In this time a decoder takes some tens of megabytes. */
const INTERVAL_MS = 50;

/** @param restingBytes returns the bytes that idle processes hold; they count as well. */
export function createMemoryWatch(limits: MemoryLimits, restingBytes: () => number): MemoryWatch {
  /** In the order in which they began. */
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;

  function measure(): void {
    let used = restingBytes();
    // A copy: a callback may end the watching of its process at once.
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
      timer ??= setInterval(measure, INTERVAL_MS).unref();
      return () => {
        watched.delete(process);
        if (watched.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
