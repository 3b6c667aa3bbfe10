/** Bytes that come in pieces of any size, without the cost of keeping many small ones. */
export interface GrowingBuffer {
  /** How many there are. */
  readonly size: number;
  append(bytes: Uint8Array): void;
  /** All bytes, and empties it. The memory is used again by the next `append`. */
  drain(): Buffer;
}

const FIRST_BYTES = 64 * 1024;

export function createGrowingBuffer(): GrowingBuffer {
  let memory = Buffer.alloc(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    append(bytes) {
      const needed = size + bytes.byteLength;
      if (needed > memory.length) {
        const grown = Buffer.allocUnsafe(Math.max(needed, 2 * memory.length, FIRST_BYTES));
        memory.copy(grown, 0, 0, size);
        memory = grown;
      }
      memory.set(bytes, size);
      size = needed;
    },
    drain() {
      const bytes = memory.subarray(0, size);
      size = 0;
      return bytes;
    },
  };
}
