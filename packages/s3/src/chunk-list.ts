/** Bytes that come in pieces of any size, without the cost of copying large ones and of keeping many small ones. */
export interface ChunkList {
  /** How many bytes there are. */
  readonly size: number;
  /** Keeps the chunk itself, unless it is small. */
  append(chunk: Buffer): void;
  /** All bytes, in few Buffers of which none is empty, and empties the list. */
  drain(): Buffer[];
}

/** What is shorter is copied. */
const SMALL_BYTES = 16 * 1024;
const ROOM_BYTES = 64 * 1024;

export function createChunkList(): ChunkList {
  let chunks: Buffer[] = [];
  let size = 0;
  // Where small chunks are put together, of which some bytes are in `chunks` and some are not yet.
  let room = Buffer.alloc(0);
  let [begin, end] = [0, 0];

  function flush(): void {
    if (end > begin) chunks.push(room.subarray(begin, end));
    begin = end;
  }

  return {
    get size() {
      return size;
    },
    append(chunk) {
      size += chunk.length;
      if (chunk.length >= SMALL_BYTES) {
        flush();
        chunks.push(chunk);
        return;
      }
      if (chunk.length > room.length - end) {
        flush();
        room = Buffer.allocUnsafe(ROOM_BYTES);
        [begin, end] = [0, 0];
      }
      room.set(chunk, end);
      end += chunk.length;
    },
    drain() {
      flush();
      const all = chunks;
      chunks = [];
      size = 0;
      return all;
    },
  };
}
