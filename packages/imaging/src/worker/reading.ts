import { isError, type OriginalType } from "@outrigger/core";
import { OutOfMemory, saysOutOfMemory } from "./out-of-memory.ts";
import { tooManyPixels, unreadable } from "./unreadable.ts";

/** Awaits libvips. What it finds wrong with the bytes rejects with `unsupported_media`, want of memory with {@link OutOfMemory}. */
export async function reading<T>(
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

/** The first line of what libvips says, fit to end a sentence. */
function clause(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return line
    .replace("Input buffer has corrupt header: ", "")
    .replace(/^glib: XML parse error: .* of data: /, "its XML is broken: ")
    .slice(0, 200)
    .replace(/[.\s]+$/, "");
}
