import { deflateSync, constants as zlib } from "node:zlib";
import type { OriginalType } from "@outrigger/core";

/** A small file that is expensive to decode. */
export interface Bomb {
  title: string;
  type: OriginalType;
  bytes: Buffer;
  /**
   * What is right beside ending in time. `refused`: at the upload, for its header says it all. `unreadable`: at the upload
   * or at every conversion. `dear`: at the upload or at some conversion, because its full size takes too long to render.
   * `bounded`: it may be rendered, if that is done in time.
   */
  ends: "refused" | "unreadable" | "dear" | "bounded";
}

/** `count` zero bytes as a zlib stream: one flushed block, again and again, so that a gigabyte is made at once. */
export function packedZeros(count: number): Buffer {
  const blockBytes = 1 << 20;
  const block = deflateSync(Buffer.alloc(blockBytes), { level: 9, finishFlush: zlib.Z_FULL_FLUSH }).subarray(
    2,
  );
  const blocks = Math.floor(count / blockBytes);
  const rest = deflateSync(Buffer.alloc(count % blockBytes), { level: 9 });
  // Adler-32 of zeros: the one half stays 1, the other counts the bytes.
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((count % 65_521) * 65_536 + 1);
  return Buffer.concat([
    rest.subarray(0, 2),
    ...Array.from({ length: blocks }, () => block),
    rest.subarray(2, -4),
    checksum,
  ]);
}
