/** A message on the pipe between host and worker, with its bytes. The reader has not verified it. */
export interface Frame {
  message: unknown;
  bytes: Buffer;
}

/** The receiver of frames. */
export interface FrameReceiver {
  /** Bytes that may come with the next message. */
  maxBytes(): number;
  onFrame(frame: Frame): void;
}

/** Two lengths of 4 bytes each, big-endian: of the message as JSON, and of its bytes. */
const HEAD_BYTES = 8;

/** Everything of a frame but its bytes, which follow on the pipe. */
export function frameHead(message: object, byteLength: number): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(text.length, 0);
  head.writeUInt32BE(byteLength, 4);
  return Buffer.concat([head, text]);
}

/** Reads frames from a pipe. Throws for a frame above a limit. */
export class FrameReader {
  readonly #maxMessageBytes: number;
  readonly #receiver: FrameReceiver;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #part: "head" | "message" | "bytes" = "head";
  #target: Buffer = this.#head;
  #filled = 0;
  #message: unknown;

  /** @param maxMessageBytes Of the JSON text. */
  constructor(maxMessageBytes: number, receiver: FrameReceiver) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#receiver = receiver;
  }

  /** The memory for the next bytes of the pipe. Not empty. */
  space(): Buffer {
    return this.#target.subarray(this.#filled);
  }

  /** Takes the bytes that the pipe put at the beginning of `space()`. */
  took(byteLength: number): void {
    this.#filled += byteLength;
    // An empty part ends without bytes.
    while (this.#filled === this.#target.length) this.#finishPart();
  }

  #finishPart(): void {
    const done = this.#target;
    const head = this.#head;
    this.#filled = 0;
    if (this.#part === "head") {
      this.#target = Buffer.allocUnsafe(within(head.readUInt32BE(0), this.#maxMessageBytes));
      this.#part = "message";
    } else if (this.#part === "message") {
      this.#message = JSON.parse(done.toString("utf8"));
      this.#target = Buffer.allocUnsafe(within(head.readUInt32BE(4), this.#receiver.maxBytes()));
      this.#part = "bytes";
    } else {
      this.#part = "head";
      this.#target = head;
      this.#receiver.onFrame({ message: this.#message, bytes: done });
    }
  }
}

function within(length: number, limit: number): number {
  if (length > limit) throw new RangeError(`A frame has ${length} bytes, more than ${limit}`);
  return length;
}
