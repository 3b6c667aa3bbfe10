import { ServiceError } from "@outrigger/core";

const REPLACEMENT = "\uFFFD";
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);
// In a `filename*` parameter (RFC 8187) the same character is percent-encoded.
const REPLACEMENT_ENCODED = /%EF%BF%BD/i;

/**
 * Tells text that was not valid UTF-8 from text that has the replacement character in it. The parser decodes without
 * complaint and puts U+FFFD for every invalid byte; so where one shows up, the bytes that came last must hold it too.
 */
export interface Utf8Witness {
  remember(chunk: Buffer): void;
  /** Throws `bad_request` when `text` was decoded from invalid UTF-8. `what` names it in the message. */
  check(text: string, what: string): void;
}

/**
 * @param windowBytes How much before the newest chunk is kept: at least as long as a part's headers and the longest text
 *   field.
 */
export function createUtf8Witness(windowBytes: number): Utf8Witness {
  let before: Buffer = Buffer.alloc(0);
  let newest: Buffer = Buffer.alloc(0);
  return {
    remember(chunk) {
      // Small chunks are copied together: a client that sends single bytes must not make us keep thousands of Buffers.
      before =
        newest.length >= windowBytes
          ? newest
          : Buffer.concat([before.subarray(newest.length - windowBytes), newest]);
      newest = chunk;
    },
    check(text, what) {
      if (!text.includes(REPLACEMENT)) return;
      const window = Buffer.concat([before, newest]);
      if (window.includes(REPLACEMENT_BYTES) || REPLACEMENT_ENCODED.test(window.toString("latin1"))) return;
      throw new ServiceError("bad_request", `${what} is not valid UTF-8`);
    },
  };
}

/** Undoes the escapes that HTML forms put into the names of multipart parts; multer does the same for file names. */
export function decodeFormName(name: string): string {
  return name.replace(/%0A|%0D|%22/gi, (escaped) => decodeURIComponent(escaped));
}

/** The name of a file that a parser of the host's read as latin1, multer's default, although clients send UTF-8. */
export function repairLatin1(name: string): string {
  if (!/[\x80-\xFF]/.test(name) || /[^\0-\xFF]/.test(name)) return name;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(name, "latin1"));
  } catch {
    // Not UTF-8 underneath, so the host's parser had decoded it rightly.
    return name;
  }
}
