import type { ConvertibleType, OriginalType } from "@outrigger/core/images";
import { isError } from "@outrigger/core/values";
import type { Sharp } from "sharp";
import { damaged, tooManyPixels, unreadable } from "./picture.ts";

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
  const { width, height, channels } = info;
  // libvips knows no colours for other numbers of channels, such as two in a JPEG, and leaves them as they are.
  if (channels !== 3 && channels !== 4) throw unreadable(type, `it has ${channels} colour channels`);
  return { pixels: data, width, height, channels };
}

/** Awaits libvips. Rejects with `unsupported_media` for faults in the bytes, and with {@link OutOfMemory}. */
export async function awaitLibvips<T>(
  type: OriginalType | ConvertibleType,
  limits: { maxPixels: number },
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const message = isError(error) ? error.message : String(error);
    if (message.includes("exceeds pixel limit")) throw tooManyPixels(type, limits.maxPixels);
    if (message.includes("unsupported image format")) throw damaged("its header cannot be read", error);
    if (saysOutOfMemory(error)) throw new OutOfMemory(error);
    const [, line] = /XML parse error: .*?\bline (\d+)/.exec(message) ?? [];
    throw damaged(line && `its XML is broken in line ${line}`, error);
  }
}

/** The error when a picture needs more memory than its process may use. */
class OutOfMemory extends Error {
  constructor(cause: unknown) {
    super("The picture needs more memory than the process may use", { cause });
    this.name = "OutOfMemory";
  }
}

/**
 * Messages for a failed allocation, from libvips, libjpeg, GLib, librsvg (whose cairo gives no reason) and V8 (for
 * buffers).
 */
const OUT_OF_MEMORY =
  /out of memory|insufficient memory|error creating thread|rendering error:\s*$|array buffer allocation failed|failed to allocate memory/im;

/** Whether a library's error reports a failed allocation. */
export function saysOutOfMemory(error: unknown): boolean {
  return error instanceof OutOfMemory || (isError(error) && OUT_OF_MEMORY.test(error.message));
}
