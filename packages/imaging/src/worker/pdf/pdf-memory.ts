import { unreadable } from "../unreadable.ts";
import { type Pdfium, releasing } from "./pdfium.ts";

/** `bytes` bytes of PDFium's memory for as long as `use` runs. */
export function useMemory<Result>(
  { pdfium: { wasmExports } }: Pdfium,
  bytes: number,
  use: (pointer: number) => Result,
): Result {
  const pointer = wasmExports.malloc(bytes);
  if (pointer === 0) throw unreadable("application/pdf", "it needs too much memory");
  return releasing(
    () => use(pointer),
    () => wasmExports.free(pointer),
  );
}

/** Reads the 32-bit floats that `write` is given a pointer to; `null` when it says that it has written none. */
export function readFloats(
  pdfium: Pdfium,
  count: number,
  write: (pointer: number) => boolean,
): number[] | null {
  return useMemory(pdfium, count * 4, (pointer) => {
    if (!write(pointer)) return null;
    return [...new Float32Array(pdfium.pdfium.HEAPU8.buffer, pointer, count)];
  });
}
