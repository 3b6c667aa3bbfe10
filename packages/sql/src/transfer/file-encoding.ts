import { ServiceError } from "@outrigger/core";

/** The shortest first part of a text, unless the text is shorter: a table's header and first rows. */
const START_BYTES = 65_536;

/** Whether an encoding can be read, such as `windows-1252`, `utf-16le`, `macintosh`. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name) !== null;
  } catch {
    return false; // A RangeError: the name is unknown.
  }
}

/**
 * The text of a file in parts, of which the first has at least 64 KiB, or the whole file. Rejects with `bad_request` for bytes
 * that are not of the encoding.
 * @param given By default UTF-8, or UTF-16 with a mark.
 */
export async function* textOf(
  input: AsyncIterable<Uint8Array>,
  given: string | undefined,
): AsyncGenerator<string> {
  let start: Uint8Array | null = Buffer.alloc(0);
  let decoder = new TextDecoder();

  function decode(bytes?: Uint8Array): string {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw notOf(decoder.encoding, given, cause);
    }
  }

  function begin(bytes: Uint8Array): string {
    start = null;
    decoder = new TextDecoder(given ?? markedIn(bytes), { fatal: true });
    return decode(bytes);
  }

  for await (const chunk of input) {
    if (start === null) yield decode(chunk);
    else {
      start = Buffer.concat([start, chunk]);
      if (start.length >= START_BYTES) yield begin(start);
    }
  }
  if (start !== null) yield begin(start);
  yield decode();
}

function markedIn([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

function notOf(encoding: string, given: string | undefined, cause: unknown): ServiceError {
  const remedy = `Name ${given === undefined ? "its" : "another"} encoding with --encoding, such as windows-1252`;
  return new ServiceError(
    "bad_request",
    `The file has bytes that are not ${encoding.toUpperCase()}. ${remedy}, in code with \`encoding\`.`,
    { cause },
  );
}
