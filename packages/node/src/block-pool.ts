/** Blocks of memory for reading and writing, reused: garbage of their size would load the garbage collector. */
export interface BlockPool {
  /** A block that still contains the bytes of its last use. */
  borrow(): Buffer;
  /** Releases a block for the next use. It must not be read or written any more. */
  release(block: Buffer): void;
}

/** @param maxIdle Maximum number of blocks kept for reuse. */
export function createBlockPool(blockBytes: number, maxIdle: number): BlockPool {
  const idle: Buffer[] = [];
  return {
    borrow: () => idle.pop() ?? Buffer.allocUnsafeSlow(blockBytes),
    release(block) {
      if (idle.length < maxIdle) idle.push(block);
    },
  };
}
