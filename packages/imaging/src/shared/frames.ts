/** A message on the pipe between host and worker, with its bytes. The reader has not verified it. */
export interface Frame {
  message: unknown;
  bytes: Buffer;
}

/** The most that a reader accepts. A frame above a limit makes it throw. */
interface FrameLimits {
  /** Bytes of the JSON text. */
  messageBytes: number;
  /** Bytes that may come with the next message. */
  bytes(): number;
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

/** Reads frames from a pipe. */
interface FrameReader {
  /** The memory for the next bytes of the pipe. Not empty. */
  space(): Buffer;
  /** Takes the bytes that the pipe put at the beginning of `space()`. Throws for a frame above a limit. */
  took(byteLength: number): void;
}

export function createFrameReader(limits: FrameLimits, onFrame: (frame: Frame) => void): FrameReader {
  const head = Buffer.alloc(HEAD_BYTES);
  let part: "head" | "message" | "bytes" = "head";
  let target = head;
  let filled = 0;
  let message: unknown;

  function finishPart(): void {
    const done = target;
    filled = 0;
    if (part === "head") {
      target = Buffer.allocUnsafe(within(head.readUInt32BE(0), limits.messageBytes));
      part = "message";
    } else if (part === "message") {
      message = JSON.parse(done.toString("utf8"));
      target = Buffer.allocUnsafe(within(head.readUInt32BE(4), limits.bytes()));
      part = "bytes";
    } else {
      part = "head";
      target = head;
      onFrame({ message, bytes: done });
      return;
    }
    // An empty part ends without bytes.
    if (target.length === 0) finishPart();
  }

  return {
    space: () => target.subarray(filled),
    took(byteLength) {
      filled += byteLength;
      if (filled === target.length) finishPart();
    },
  };
}

function within(length: number, limit: number): number {
  if (length > limit) throw new RangeError(`A frame has ${length} bytes, more than ${limit}`);
  return length;
}
