import { writePsd } from "../psd/write-psd.ts";
import { readPixels } from "../read-pixels.ts";
import { type Conversion, uprightPixels } from "./conversion.ts";

/** A Photoshop document of one layer. */
export async function toPsd(conversion: Conversion): Promise<Buffer> {
  const { type, limits } = conversion;
  const { pixels, ...size } = await readPixels(await uprightPixels(conversion), type, limits);
  return writePsd(pixels, size);
}
