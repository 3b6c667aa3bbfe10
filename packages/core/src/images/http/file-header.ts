import { relative } from "node:path";
import { isLocalStore } from "../../contracts/blob-store.ts";
import type { Call } from "../../contracts/call.ts";
import { isConditional } from "../../http/conditional.ts";
import { requireAlive } from "../library/find-image.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { BytesReplaced, MAX_MEMORY_ENTRY_BYTES } from "../renditions/rendition-bytes.ts";
import { keyFor } from "../renditions/rendition-names.ts";
import type { ImageContext } from "./image-context.ts";
import type { PreparedRead } from "./prepared-read.ts";

/**
 * The header by which a proxy sends an original, or the range of it that the request names; `null`: this process sends it.
 * Rejects if the image has ended meanwhile.
 *
 * Not for bytes that were read into memory, for renditions, whose files have a header of their own, and for requests with
 * a condition: the proxy would compare it again, with the date of the file.
 */
export async function fileHeader(
  { library, settings: { sendfile } }: ImageContext,
  { headers }: Call,
  current: CurrentRecord,
  { spec }: PreparedRead,
): Promise<Record<string, string> | null> {
  const { originals } = library;
  const { id, size } = current.record;
  if (sendfile === null || !isLocalStore(originals)) return null;
  if (spec !== null || size <= MAX_MEMORY_ENTRY_BYTES) return null;
  if (isConditional(headers) || headers["if-range"] !== undefined) return null;
  const key = keyFor(id, null);
  const path = await originals.localPath(key);
  if (path === null) throw new BytesReplaced(`The bytes of ${key} are gone`);
  await requireAlive(library, current);
  const { header, prefix } = sendfile;
  return {
    [header]: encodePath(prefix === undefined ? path : prefix + relative(originals.blobDirectory, path)),
  };
}

/** nginx and lighttpd decode the path. mod_xsendfile 0.12 does not, so a plain path must stay as it is. */
function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent);
}
