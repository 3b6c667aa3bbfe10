import { Readable } from "node:stream";

export const MIB = 1024 * 1024;

/** A source without an end, and the bytes that it was asked for. */
export function endless(): Readable & { produced: number } {
  const source = Object.assign(
    new Readable({
      read() {
        setImmediate(() => {
          source.produced += MIB;
          source.push(Buffer.alloc(MIB));
        });
      },
    }),
    { produced: 0 },
  );
  return source;
}
