import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createDeflate, createInflateRaw, constants as zlib } from "node:zlib";
import type { PictureLimits } from "../../shared/wire.ts";
import { damaged, requireRows } from "../picture.ts";
import { isSound, type PngChunk, readPngChunks, writePngChunk } from "../png/png-chunks.ts";

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
  requireRows(rows.complete(received), rows.height);
  const isWrong = data.some((chunk) => chunk.end < bytes.length && !isSound(bytes, chunk));
  const stored = stream.subarray(end, end + ZLIB_CHECKSUM);
  if (isWrong && (stored.length < ZLIB_CHECKSUM || stored.readUInt32BE() !== adler)) {
    throw damaged("the checksums of its pixels are wrong");
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

const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** The passes of Adam7: first column, first row, and the steps of both. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
/** The filter that adds the row above. */
const UP = 2;

/** The rows in the decompressed data of a PNG. */
interface PngRows {
  width: number;
  height: number;
  /** Bytes of all rows, with their filter bytes. */
  bytes: number;
  /** Rows of the picture that are complete after so many bytes. */
  complete(received: number): number;
  /** The bytes after the first `received`: zero, and in the last interlaced pass copies of the row above. */
  filling(received: number): Generator<Buffer, void>;
}

/**
 * Reads IHDR. `null` for one that is invalid.
 *
 * Source: PNG specification, third edition, sections 7.2, 8.1 and 11.2.1.
 */
function readPngRows({ type, data }: PngChunk): PngRows | null {
  if (type !== "IHDR" || data.length !== 13) return null;
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
  const pixelBits = data.readUInt8(8) * (CHANNELS[data.readUInt8(9)] ?? 0);
  const isInterlaced = data.readUInt8(12) === 1;
  if (width === 0 || height === 0 || pixelBits === 0) return null;
  const passes = (isInterlaced ? ADAM7 : ([[0, 0, 1, 1]] as const))
    .map(([left, top, stepX, stepY]) => ({
      columns: Math.ceil((width - left) / stepX),
      rows: Math.ceil((height - top) / stepY),
    }))
    .filter(({ columns, rows }) => columns > 0 && rows > 0)
    .map(({ columns, rows }) => ({ rows, rowBytes: 1 + Math.ceil((columns * pixelBits) / 8) }));
  const bytes = passes.reduce((sum, { rows, rowBytes }) => sum + rows * rowBytes, 0);
  const last = passes.at(-1) ?? { rows: 0, rowBytes: 1 };
  const beforeLast = bytes - last.rows * last.rowBytes;
  return {
    width,
    height,
    bytes,
    complete(received) {
      if (received >= bytes) return height;
      // The last pass of several holds every second row; the passes before it hold the others.
      return received < beforeLast
        ? 0
        : height - last.rows + Math.floor((received - beforeLast) / last.rowBytes);
    },
    *filling(received) {
      if (received < beforeLast) yield Buffer.alloc(beforeLast - received);
      const at = Math.max(0, received - beforeLast);
      const partial = at % last.rowBytes;
      if (partial > 0) yield Buffer.alloc(last.rowBytes - partial);
      const row = Buffer.alloc(last.rowBytes);
      if (isInterlaced) row.writeUInt8(UP);
      for (let index = Math.ceil(at / last.rowBytes); index < last.rows; index++) yield row;
    },
  };
}
