import { ServiceError } from "@outrigger/core";

const REPLACEMENT = "\uFFFD";
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);
// In a `filename*` parameter (RFC 8187) the same character is percent-encoded.
const REPLACEMENT_ENCODED = /%EF%BF%BD/i;

/**
 * Detects text that was decoded from invalid UTF-8. The parser replaces every invalid byte with U+FFFD instead of
 * failing. If a text contains U+FFFD, the bytes received last must contain it too; otherwise they were invalid.
 */
export class Utf8Witness {
  readonly #windowBytes: number;
  #before: Buffer = Buffer.alloc(0);
  #newest: Buffer = Buffer.alloc(0);

  /**
   * @param windowBytes Number of bytes that are kept before the newest chunk: at least the length of a part's
   * headers plus the longest text field.
   */
  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  remember(chunk: Buffer): void {
    // Small chunks are joined, so that a client that sends single bytes does not make this process keep
    // thousands of Buffers.
    this.#before =
      this.#newest.length >= this.#windowBytes
        ? this.#newest
        : Buffer.concat([this.#before.subarray(this.#newest.length - this.#windowBytes), this.#newest]);
    this.#newest = chunk;
  }

  /** The bytes received last: the newest chunk and what is kept before it. */
  recent(): Buffer {
    return Buffer.concat([this.#before, this.#newest]);
  }

  /** Throws `bad_request` if `text` was decoded from invalid UTF-8. @param what Noun for the text in the message. */
  check(text: string, what: string): void {
    if (!text.includes(REPLACEMENT)) return;
    const window = this.recent();
    if (window.includes(REPLACEMENT_BYTES) || REPLACEMENT_ENCODED.test(window.toString("latin1"))) return;
    throw new ServiceError("bad_request", `${what} is not valid UTF-8`);
  }
}

/** Decodes the escapes of HTML forms in the names of multipart parts. Multer does the same for file names. */
export function decodeFormName(name: string): string {
  return name.replace(/%0A|%0D|%22/gi, (escaped) => decodeURIComponent(escaped));
}

/**
 * Repairs a file name that the host's parser decoded as latin1, multer's default, although clients send
 * UTF-8.
 */
export function repairLatin1(name: string): string {
  if (!/[\x80-\xFF]/.test(name) || /[^\0-\xFF]/.test(name)) return name;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(name, "latin1"));
  } catch {
    // The bytes are not UTF-8, so the host's parser decoded them correctly.
    return name;
  }
}
