/** A working process whose memory is watched. */
export interface Watched {
  /** Bytes of resident memory now; `null` where the system does not report it. */
  residentBytes(): number | null;
  /** Called when this process exceeds `maxMemoryBytes`. */
  onExcess(): void;
  /** Called when all processes together exceed `maxTotalMemoryBytes` and this one began last. */
  onCrowding(): void;
}

export interface MemoryLimits {
  /** Bytes of resident memory that each process may reach. */
  maxMemoryBytes: number;
  /**
   * Bytes of resident memory that all processes may reach together. It does not apply to a process that works alone.
   */
  maxTotalMemoryBytes: number;
}

/** Measures the memory of processes while they work. */
export interface MemoryWatch {
  /** @returns a function that stops watching the process. */
  add(process: Watched): () => void;
}

/** Between two measurements a decoder allocates some tens of megabytes. */
const INTERVAL_MS = 50;

/** @param restingBytes returns the bytes that idle processes hold; they count towards the total. */
export function createMemoryWatch(limits: MemoryLimits, restingBytes: () => number): MemoryWatch {
  /** In the order in which the processes began their tasks. */
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;

  function measure(): void {
    let used = restingBytes();
    // Iterates over a copy, because a callback may remove its process.
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
      // A working child process already keeps this process alive.
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
