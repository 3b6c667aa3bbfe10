import { deflateSync, constants as zlib } from "node:zlib";
import type { ConvertibleType, OriginalType } from "@outrigger/core/images";

/** A small file that is expensive to open. */
export interface Bomb {
  title: string;
  type: OriginalType | ConvertibleType;
  bytes: Buffer;
  /**
   * The allowed outcomes, all in time. `refused`: at the upload, because the header is enough. `unreadable`: at the
   * upload or at every conversion. `dear`: at the upload or at some conversion, because it cannot be drawn in time at
   * full size. `bounded`: it may be rendered, if that ends in time.
   */
  ends: "refused" | "unreadable" | "dear" | "bounded";
}

/** `count` zero bytes as a zlib stream: one flushed block repeated, so a gigabyte takes no time to make. */
export function packedZeros(count: number): Buffer {
  const blockBytes = 1 << 20;
  const block = deflateSync(Buffer.alloc(blockBytes), { level: 9, finishFlush: zlib.Z_FULL_FLUSH }).subarray(
    2,
  );
  const blocks = Math.floor(count / blockBytes);
  const rest = deflateSync(Buffer.alloc(count % blockBytes), { level: 9 });
  // Adler-32 of zeros: one half stays 1, the other counts the bytes.
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((count % 65_521) * 65_536 + 1);
  return Buffer.concat([
    rest.subarray(0, 2),
    ...Array.from({ length: blocks }, () => block),
    rest.subarray(2, -4),
    checksum,
  ]);
}
