import type { Readable } from "node:stream";
import type { ByteRange } from "../../contracts/blob-store.ts";
import type { RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { BytesReplaced, type ServableBytes } from "../renditions/rendition-bytes.ts";
import type { Reader } from "../renditions/renditions.ts";
import { findReadyImage, requireAlive } from "./find-image.ts";
import type { LibraryContext } from "./library-context.ts";

/** The bytes of a rendition, and the record of its image after the render. */
export interface FoundBytes {
  current: CurrentRecord;
  size: number;
  /** Entity tag, quotes included. */
  etag: string;
  /** Opens all bytes, or a range. Rejects if the image has ended meanwhile. */
  open(range?: ByteRange): Promise<Buffer | Readable>;
}

/** Attempts to open a rendition: its bytes may be evicted or replaced between lookup and opening. */
const MAX_ATTEMPTS = 3;

/**
 * Finds or renders the bytes of a living image, and passes them to `use`. Retries if the bytes were replaced before
 * they were opened. Rejects like {@link requireAlive} if the image ends meanwhile, and like `Renditions.get`.
 * @param spec `null`: the original.
 */
export async function readRendition<T>(
  context: LibraryContext,
  { record }: CurrentRecord,
  spec: RenditionSpec | null,
  reader: Reader,
  use: (found: FoundBytes) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const bytes = await context.renditions.get(record, spec, reader);
      // Rendering and remote stores take time. The image may have been deleted or have expired since.
      const current = await findReadyImage(context, record.id, reader.signal);
      if (bytes === null) {
        await context.guard.confirmBytes();
        throw new ServiceError(
          "damaged",
          `The original of image ${record.id} is missing from its store, and should have ${record.size} bytes`,
        );
      }
      const { size, etag } = bytes;
      return await use({
        current,
        size,
        etag,
        open: (range) => openWhileAlive(context, current, bytes, range),
      });
    } catch (error) {
      if (!(error instanceof BytesReplaced)) throw error;
      if (attempt < MAX_ATTEMPTS) continue;
      throw new ServiceError("store_unavailable", error.message, { cause: error });
    }
  }
}

/** Opens the bytes. Rejects if the image expired while the backend opened them. */
async function openWhileAlive(
  context: LibraryContext,
  current: CurrentRecord,
  bytes: ServableBytes,
  range?: ByteRange,
): Promise<Buffer | Readable> {
  const body = await bytes.open(range);
  try {
    await requireAlive(context, current);
    return body;
  } catch (error) {
    if (!Buffer.isBuffer(body)) body.destroy();
    throw error;
  }
}
