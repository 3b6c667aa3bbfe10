import { TextDecoder } from "node:util";
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
  let decoder: TextDecoder | null = null;
  try {
    for await (const chunk of withStart(input)) {
      decoder ??= new TextDecoder(given ?? markedIn(chunk), { fatal: true });
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder?.decode() ?? "";
  } catch (cause) {
    if (Object(cause).code !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw cause;
    const found = `The file has bytes that are not ${decoder?.encoding.toUpperCase()}.`;
    const remedy = `Name ${given === undefined ? "its" : "another"} encoding with --encoding, such as windows-1252`;
    throw new ServiceError("bad_request", `${found} ${remedy}, in code with \`encoding\`.`, { cause });
  }
}

/** The chunks of a file, the first ones together. */
async function* withStart(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const start: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    if (length < START_BYTES) start.push(chunk);
    length += chunk.length;
    if (length >= START_BYTES) yield start.length > 0 ? Buffer.concat(start.splice(0)) : chunk;
  }
  yield Buffer.concat(start);
}

function markedIn([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}
