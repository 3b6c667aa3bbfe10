import { expect } from "vitest";

/** The file in the pieces that `strip` returns for `original`, which it must not change. */
export function stripped(original: Buffer, strip: (bytes: Buffer) => readonly Buffer[] | null): Buffer {
  const before = Buffer.from(original);
  const pieces = strip(original);
  expect(original.equals(before)).toBe(true);
  return pieces === null ? original : Buffer.concat(pieces);
}
