/** The position of a frame on the screen of its GIF. */
export interface GifFrame {
  left?: number;
  top?: number;
  width: number;
  height: number;
  /** Sub-blocks of compressed pixels. @default a clear code and an end code */
  data?: Buffer;
}

/** A GIF of a few bytes whose frames declare any size and hold almost no pixels. */
export function sparseGif(width: number, height: number, frames: GifFrame[]): Buffer {
  return Buffer.concat([
    Buffer.from("GIF89a", "latin1"),
    uint16s(width, height),
    Buffer.of(0x80, 0, 0, 255, 0, 0, 0, 0, 255),
    ...frames.flatMap((frame) => [
      Buffer.of(0x21, 0xf9, 4, 0, 5, 0, 0, 0, 0x2c),
      uint16s(frame.left ?? 0, frame.top ?? 0, frame.width, frame.height),
      // Minimum code size 2: clear is 4, end is 5, three bits each.
      Buffer.of(0, 2),
      frame.data ?? Buffer.of(1, 0b101_100, 0),
    ]),
    Buffer.of(0x3b),
  ]);
}

function uint16s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
  return bytes;
}
