/** A list of chunks of any size. It copies small chunks together and keeps large ones without a copy. */
export interface ChunkList {
  /** Number of bytes in the list. */
  readonly size: number;
  /** Appends a chunk. Copies it if it is small, and keeps a reference otherwise. */
  append(chunk: Buffer): void;
  /** Returns all bytes in a few non-empty Buffers and clears the list. */
  drain(): Buffer[];
}

/** Shorter chunks are copied. */
const SMALL_BYTES = 16 * 1024;
const ROOM_BYTES = 64 * 1024;

export function createChunkList(): ChunkList {
  let chunks: Buffer[] = [];
  let size = 0;
  // Small chunks are joined here. Bytes before `begin` are in `chunks` already, those from `begin` to `end`
  // are not.
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
