/** Memory for bytes that are put together to be sent, used again and again: new memory costs more than sending what is in it. */
export interface LentMemory {
  /** As `Buffer.concat`; the memory is on loan where there is much of it. */
  join(chunks: readonly Buffer[], length: number): Buffer;
  /** Takes memory back that nobody will read or write any more. What was not lent is left alone. */
  giveBack(bytes: Buffer): void;
}

/** What is shorter is cheap enough. */
const MIN_BYTES = 65_536;
/** So much is held for ever, once it was needed at the same time. */
const MAX_KEPT = 4;

/** @param maxBytes The longest that is lent; longer ones are new. */
export function createLentMemory(maxBytes: number): LentMemory {
  const kept: ArrayBuffer[] = [];
  const lent = new WeakSet<ArrayBufferLike>();
  return {
    join(chunks, length) {
      if (length < MIN_BYTES || length > maxBytes) return Buffer.concat(chunks, length);
      const memory = kept.pop() ?? new ArrayBuffer(maxBytes);
      lent.add(memory);
      const bytes = Buffer.from(memory, 0, length);
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return bytes;
    },
    giveBack({ buffer }) {
      if (!lent.delete(buffer) || kept.length >= MAX_KEPT) return;
      kept.push(buffer as ArrayBuffer); // As all that are lent.
    },
  };
}
