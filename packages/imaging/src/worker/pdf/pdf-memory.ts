import { unreadable } from "../unreadable.ts";
import { type Pdfium, releasing } from "./pdfium.ts";

/** Allocates `bytes` bytes of PDFium's memory while `use` runs. */
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

/** Reads the 32-bit floats that `write` stores at a pointer; `null` when `write` returns that it stored none. */
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
