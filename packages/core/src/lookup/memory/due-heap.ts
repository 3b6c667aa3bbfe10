/** Items ordered by the time at which they are due; items of one time are in random order. */
export interface DueHeap<T> {
  push(item: T, dueMs: number): void;
  /** When the first item is due; `null` if there is none. */
  nextDueMs(): number | null;
  /** Removes the first item. */
  pop(): T | undefined;
}

interface Entry<T> {
  item: T;
  dueMs: number;
  /** Orders entries of one time. */
  spot: number;
}

/**
 * A binary heap. A changed item is pushed again.
 * @param isCurrent whether an item is still due at the time with which it was pushed; other entries are skipped.
 */
export function createDueHeap<T>(isCurrent: (item: T, dueMs: number) => boolean): DueHeap<T> {
  const entries: Entry<T>[] = [];
  const isBefore = (a: Entry<T>, b: Entry<T>) =>
    a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.spot < b.spot);

  function rise(start: number): void {
    for (let index = start; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!swapIf(index, parent)) return;
      index = parent;
    }
  }

  function sink(): void {
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const [a, b] = [entries[left], entries[right]];
      if (a === undefined) return;
      const child = b !== undefined && isBefore(b, a) ? right : left;
      if (!swapIf(child, index)) return;
      index = child;
    }
  }

  /** Swaps two entries if the lower one belongs above the upper one. */
  function swapIf(lower: number, upper: number): boolean {
    const [a, b] = [entries[lower], entries[upper]];
    if (a === undefined || b === undefined || !isBefore(a, b)) return false;
    entries[upper] = a;
    entries[lower] = b;
    return true;
  }

  function removeFirst(): Entry<T> | undefined {
    const [first] = entries;
    const last = entries.pop();
    if (last !== undefined && entries.length > 0) {
      entries[0] = last;
      sink();
    }
    return first;
  }

  function dropStale(): void {
    for (
      let [first] = entries;
      first !== undefined && !isCurrent(first.item, first.dueMs);
      [first] = entries
    ) {
      removeFirst();
    }
  }

  return {
    push(item, dueMs) {
      entries.push({ item, dueMs, spot: Math.random() });
      rise(entries.length - 1);
    },
    nextDueMs() {
      dropStale();
      return entries[0]?.dueMs ?? null;
    },
    pop() {
      dropStale();
      return removeFirst()?.item;
    },
  };
}
