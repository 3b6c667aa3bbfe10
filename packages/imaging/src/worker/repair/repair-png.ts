import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createDeflate, createInflateRaw, constants as zlib } from "node:zlib";
import type { PictureLimits } from "../../shared/wire.ts";
import { isSound, type PngChunk, readPngChunks, writePngChunk } from "../png/png-chunks.ts";
import { unreadable } from "../unreadable.ts";
import { requireRows } from "./missing-rows.ts";
import { type PngRows, readPngRows } from "./png-rows.ts";

const TYPE = "image/png";
/** More chunks than any real file has, and few enough to keep in memory. */
const MAX_CHUNKS = 100_000;
/** Bytes of a zlib stream before its deflated data, and after it. */
const [ZLIB_HEADER, ZLIB_CHECKSUM] = [2, 4];

/**
 * A readable copy of a PNG that is truncated or has a wrong checksum over its pixels; `null` when its header is damaged
 * or over a limit.
 * Rejects with `unsupported_media` when too many rows are missing, and when both checksums are wrong, which proves that
 * pixels are damaged.
 */
export async function repairPng(bytes: Buffer, limits: PictureLimits): Promise<Buffer | null> {
  const chunks: PngChunk[] = [];
  for (const chunk of readPngChunks(bytes)) if (chunks.push(chunk) > MAX_CHUNKS) return null;
  const [header] = chunks;
  const data = chunks.filter(({ type }) => type === "IDAT");
  const [first] = data;
  if (header === undefined || first === undefined || !isSound(bytes, header)) return null;
  const rows = readPngRows(header);
  if (rows === null || rows.width * rows.height > limits.maxPixels) return null;
  const stream = Buffer.concat(data.map((chunk) => chunk.data));
  const { received, adler, end, compressed } = await recompress(stream, rows);
  const isTruncated = chunks.at(-1)?.type !== "IEND";
  requireRows(TYPE, { came: rows.complete(received), of: rows.height, isTruncated });
  const isWrong = data.some((chunk) => chunk.end < bytes.length && !isSound(bytes, chunk));
  const stored = stream.subarray(end, end + ZLIB_CHECKSUM);
  if (isWrong && (stored.length < ZLIB_CHECKSUM || stored.readUInt32BE() !== adler)) {
    throw unreadable(TYPE, "its pixels are damaged: their checksums are wrong");
  }
  const others = chunks.filter(
    (chunk) => chunk.start > first.start && !/^I(?:DAT|END)$/.test(chunk.type) && isSound(bytes, chunk),
  );
  return Buffer.concat([
    bytes.subarray(0, first.start),
    writePngChunk("IDAT", compressed),
    ...others.map((chunk) => bytes.subarray(chunk.start, chunk.end)),
    writePngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Inflates as much as came, fills in the missing rows, and deflates it again. Neither form is ever whole in memory. */
async function recompress(stream: Buffer, rows: PngRows) {
  const inflate = createInflateRaw({ finishFlush: zlib.Z_SYNC_FLUSH });
  const checksum = createAdler();
  const compressed: Buffer[] = [];
  let received = 0;
  async function* source(): AsyncGenerator<Buffer, void> {
    try {
      for await (const chunk of Readable.from([stream.subarray(ZLIB_HEADER)]).pipe(inflate)) {
        const wanted: Buffer = chunk.subarray(0, rows.bytes - received);
        received += wanted.length;
        checksum.update(chunk);
        yield wanted;
        if (chunk.length > wanted.length) break;
      }
    } catch {
      // Damaged data: the rows before it count.
    }
    yield* rows.filling(received);
  }
  await pipeline(source, createDeflate({ level: zlib.Z_BEST_SPEED }), async (chunks) => {
    for await (const chunk of chunks) compressed.push(chunk);
  });
  return {
    received,
    adler: checksum.value(),
    /** Position after the deflated data. */
    end: ZLIB_HEADER + inflate.bytesWritten,
    compressed: Buffer.concat(compressed),
  };
}

/** The checksum of zlib streams, which Node checks but does not offer. Source: RFC 1950, section 8.2. */
function createAdler(): { update(bytes: Buffer): void; value(): number } {
  let [a, b] = [1, 0];
  return {
    update(bytes) {
      // The sums of so many bytes fit into 32 bits.
      for (let start = 0; start < bytes.length; start += 3800) {
        for (const byte of bytes.subarray(start, start + 3800)) {
          a += byte;
          b += a;
        }
        a %= 65_521;
        b %= 65_521;
      }
    },
    value: () => b * 65_536 + a,
  };
}
