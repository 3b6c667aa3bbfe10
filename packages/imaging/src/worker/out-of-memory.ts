import { isError } from "@outrigger/core";
/** A picture needs more memory than its process may have. */
export class OutOfMemory extends Error {
  constructor(cause: unknown) {
    super("More memory was needed than is allowed", { cause });
    this.name = "OutOfMemory";
  }
}

/** What libvips, libjpeg, GLib and librsvg (whose cairo gives no reason) say when memory is refused, and V8 for a buffer. */
const WORDS =
  /out of memory|insufficient memory|error creating thread|rendering error:\s*$|array buffer allocation failed|failed to allocate memory/im;

/** Whether an error of a library says that memory was refused to it. */
export function saysOutOfMemory(error: unknown): boolean {
  return error instanceof OutOfMemory || (isError(error) && WORDS.test(error.message));
}
