// One big write costs little more than one small one.
const BLOCK_BYTES = 1024 * 1024;
const IDLE_BLOCKS = 8;

/**
 * Blocks of memory for gathering what is to be written, used again and again: the garbage collector works hard for
 * network chunks that are kept until there are enough of them, and hardly at all for those copied at once. What lies in
 * a block is from whoever had it before.
 */
const idle: Buffer[] = [];

export function takeBlock(): Buffer {
  return idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
}

/** Gives a block back that nothing reads or writes any more. */
export function returnBlock(block: Buffer): void {
  if (idle.length < IDLE_BLOCKS) idle.push(block);
}
