import type { BlobStore, StoredBlob } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";

/** Metadata of a stored rendition, in a header of fixed length before its bytes. */
export interface Stamp {
  /** `Renderer.look` of the renderer that made the rendition. */
  look: number;
  /** `Renderer.build` of the same renderer. If another build made the intermediate, that build follows after a `-`. */
  build: string;
}

/** Length of the header in bytes. */
export const STAMP_BYTES = 96;

const STAMP = /^outrigger rendition 1 look=([1-9]\d{0,8}) build=([a-z0-9.]{1,24}(?:-[a-z0-9.]{1,24})?) *\n$/;

/** The blob of a rendition: header and bytes. */
export function stamped({ look, build }: Stamp, bytes: Buffer): Buffer {
  const line = `outrigger rendition 1 look=${look} build=${build}`;
  return Buffer.concat([Buffer.from(`${line.padEnd(STAMP_BYTES - 1)}\n`, "latin1"), bytes]);
}

/** The stamp at the start of a blob; `null`: the blob is not a rendition. */
export function stampIn(start: Buffer): Stamp | null {
  const match = STAMP.exec(start.toString("latin1", 0, STAMP_BYTES));
  if (match === null) return null;
  const [, look, build = ""] = match;
  return { look: Number(look), build };
}

/** Reads the stamp of an open blob and closes the blob. `null` as in {@link stampIn}. */
export async function readStamp({ body }: StoredBlob): Promise<Stamp | null> {
  if (Buffer.isBuffer(body)) return stampIn(body);
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the stream.
  for await (const chunk of body) {
    chunks.push(chunk as Buffer); // Streams of a store yield Buffers.
    length += (chunk as Buffer).length;
    if (length >= STAMP_BYTES) break;
  }
  return stampIn(Buffer.concat(chunks));
}

/** The stamp of the rendition stored under a key; `null`: none is stored. */
export async function storedStamp(
  store: BlobStore,
  key: string,
  signal?: AbortSignal,
): Promise<Stamp | null> {
  const range = { start: 0, end: STAMP_BYTES - 1 };
  try {
    const blob = await store.get(key, signal === undefined ? { range } : { range, signal });
    return blob === null ? null : await readStamp(blob);
  } catch (error) {
    // An empty blob, left by another program, has no such range.
    if (isServiceError(error, "bad_request")) return null;
    throw error;
  }
}
