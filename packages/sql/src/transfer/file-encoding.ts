import { isAscii, isUtf8 } from "node:buffer";

/** The shortest part of a file that determines its encoding, unless the file is shorter. */
const PIECE_BYTES = 65_536;
const WESTERN = "windows-1252";
/** Texts that are in no Western European language: controls, many accents in a row, signs within words. */
const UNLIKELY = /[\x80-\x9f]|[À-ÿ]{4}|\p{L}[¢-©«-¯±-³¸¹»-¿×÷]\p{L}/u;

/** Whether an encoding can be read, such as `windows-1252`, `utf-16le`, `macintosh`. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name) !== null;
  } catch {
    return false; // A RangeError: the name is unknown.
  }
}

/** The length without the start of a character of several bytes at the end. */
function wholeLength(bytes: Buffer): number {
  for (let end = bytes.length; end > Math.max(0, bytes.length - 4); end--) {
    if ((bytes[end - 1] ?? 0) < 0x80) return end;
  }
  return bytes.length;
}

function utf16In(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const start = bytes.subarray(0, 400);
  const zeros = [0, 0];
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (Math.max(even, odd) <= start.length / 4 || Math.min(even, odd) > 0) return null;
  return odd > 0 ? "utf-16le" : "utf-16be";
}

/** The encoding of 8-bit text by its content. @returns `null` for ASCII. */
export function eightBitIn(bytes: Buffer): string | null {
  if (isAscii(bytes)) return null;
  if (isUtf8(bytes)) return "utf-8";
  const text = bytes.toString("utf8");
  // UTF-8 with some damaged lines has more valid characters than others.
  const valid = text.match(/[^\0-\x7f\uFFFD]/g)?.length ?? 0;
  const invalid = text.match(/\uFFFD/g)?.length ?? 0;
  if (valid > invalid) return "utf-8";
  return UNLIKELY.test(new TextDecoder(WESTERN).decode(bytes)) ? "utf-8" : WESTERN;
}

/** Splits and joins chunks to pieces of 64 KiB; the last one is shorter. One chunk may be a whole file or a single byte. */
async function* inPieces(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let piece: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  let length = 0;
  for await (const chunk of input) {
    for (let start = 0; start < chunk.length; ) {
      const part = chunk.subarray(start, start + PIECE_BYTES - length);
      piece.set(part, length);
      start += part.length;
      length += part.length;
      if (length < PIECE_BYTES) continue;
      yield piece;
      piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      length = 0;
    }
  }
  yield piece.subarray(0, length);
}

/**
 * Converts a file to UTF-8 in pieces, of which the first has at least 32 KiB, or the whole file. Bytes that are not of the
 * encoding become U+FFFD, or stay as they are in UTF-8.
 *
 * @param given By default UTF-16 is recognised by its mark or its zero bytes, and UTF-8 by its validity. Other text is read as
 * Windows-1252, unless it cannot be of a Western European language.
 * @param onEncoding Receives the name of the encoding once, unless the file is ASCII.
 */
export async function* toUtf8(
  input: AsyncIterable<Uint8Array>,
  given: string | undefined,
  onEncoding: (name: string) => void,
): AsyncGenerator<Uint8Array> {
  const use = (encoding: string) => {
    const decoder = new TextDecoder(encoding);
    onEncoding(decoder.encoding);
    return decoder;
  };
  let decoder = given === undefined ? null : use(given);
  let tail: Buffer = Buffer.alloc(0);
  let isStart = true;
  for await (const piece of inPieces(input)) {
    const isLast = piece.length < PIECE_BYTES;
    let bytes = piece;
    if (decoder === null) {
      bytes = Buffer.concat([tail, piece]);
      // A character may be split.
      const end = isLast ? bytes.length : wholeLength(bytes);
      const found = (isStart ? utf16In(bytes) : null) ?? eightBitIn(bytes.subarray(0, end));
      isStart = false;
      if (found !== null) decoder = use(found);
      else {
        tail = bytes.subarray(end);
        bytes = bytes.subarray(0, end);
      }
    }
    if (decoder === null || decoder.encoding === "utf-8") yield bytes;
    else yield Buffer.from(decoder.decode(bytes, { stream: !isLast }));
  }
}
