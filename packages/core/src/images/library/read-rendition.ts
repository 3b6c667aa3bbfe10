import type { Readable } from "node:stream";
import type { ByteRange } from "../../contracts/blob-store.ts";
import type { RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { Reader } from "../renditions/renditions.ts";
import { BytesReplaced, type ServableBytes } from "../renditions/servable-bytes.ts";
import { findReadyImage, requireAlive } from "./find-image.ts";
import type { LibraryContext } from "./library-context.ts";

/** The bytes of a rendition, and the record of its image after they were found or made. */
export interface FoundBytes {
  current: CurrentRecord;
  size: number;
  /** Entity tag, quotes included. */
  etag: string;
  /** Opens all bytes, or a range. Rejects when the image has ended by then. */
  open(range?: ByteRange): Promise<Buffer | Readable>;
}

/** Between being found and being opened, the bytes of a rendition may be evicted or made anew. */
const MAX_ATTEMPTS = 3;

/**
 * Finds or renders the bytes of an image, as long as it lives, and gives them to `use`; again when they were replaced
 * before they were opened. Rejects as its life says when the image ends meanwhile, and as `Renditions.get`.
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
      // Rendering and remote stores take their time, in which the image may have been deleted or have expired.
      const current = await findReadyImage(context, record.id, reader.signal);
      if (bytes === null) {
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

/** Opens the bytes. A backend may take so long over it that the image expires meanwhile. */
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
