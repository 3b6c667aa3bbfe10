import { isError, type OriginalType } from "@outrigger/core";
import type { Sharp } from "sharp";
import { tooManyPixels, unreadable } from "./unreadable.ts";

/** Interleaved 8-bit sRGB, with alpha where there are four channels. */
export interface Pixels {
  pixels: Buffer;
  width: number;
  height: number;
  channels: 3 | 4;
}

/** Runs a pipeline to its pixels. Rejects as {@link awaitLibvips} does. */
export async function readPixels(
  image: Sharp,
  type: OriginalType,
  limits: { maxPixels: number },
): Promise<Pixels> {
  const drawing = image.toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const { data, info } = await awaitLibvips(type, limits, drawing);
  return { pixels: data, width: info.width, height: info.height, channels: info.channels === 4 ? 4 : 3 };
}

/** Awaits libvips. Rejects with `unsupported_media` for faults in the bytes, and with {@link OutOfMemory}. */
export async function awaitLibvips<T>(
  type: OriginalType,
  limits: { maxPixels: number },
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const message = isError(error) ? error.message : String(error);
    if (message.includes("exceeds pixel limit")) throw tooManyPixels(type, limits.maxPixels);
    if (message.includes("unsupported image format")) throw unreadable(type, "its bytes are something else");
    if (saysOutOfMemory(error)) throw new OutOfMemory(error);
    throw unreadable(type, clause(message), error);
  }
}

/** A picture needs more memory than its process may have. */
class OutOfMemory extends Error {
  constructor(cause: unknown) {
    super("More memory was needed than is allowed", { cause });
    this.name = "OutOfMemory";
  }
}

/** Messages of libvips, libjpeg, GLib and librsvg (whose cairo gives no reason) when memory is refused, and of V8 for a buffer. */
const OUT_OF_MEMORY =
  /out of memory|insufficient memory|error creating thread|rendering error:\s*$|array buffer allocation failed|failed to allocate memory/im;

/** Whether an error of a library says that memory was refused to it. */
export function saysOutOfMemory(error: unknown): boolean {
  return error instanceof OutOfMemory || (isError(error) && OUT_OF_MEMORY.test(error.message));
}

/** The first line of a message of libvips, fit to end a sentence. */
function clause(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return line
    .replace("Input buffer has corrupt header: ", "")
    .replace(/^glib: XML parse error: .* of data: /, "its XML is broken: ")
    .slice(0, 200)
    .replace(/[.\s]+$/, "");
}
