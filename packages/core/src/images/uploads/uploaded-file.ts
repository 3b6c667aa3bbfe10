import { randomUUID } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { copyFile, link, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type BlobStore, isLocalStore, type PutOptions } from "../../contracts/blob-store.ts";
import type { SpooledFile } from "../../contracts/call.ts";
import type { Admission, RenderSource } from "../../contracts/renderer.ts";
import { withBody } from "../../stores/blob-body.ts";
import { systemTemporaryDirectory } from "../../stores/system-temporary.ts";
import { keyOf } from "../record/image-record.ts";
import { openSource } from "../renditions/rendition-bytes.ts";

/** Least average speed of an upload and of an import, in bytes per second. A slower one ends. */
export const MIN_BYTES_PER_SECOND = 1024;

/** The unprocessed bytes of an upload, and the path for their cleaned copy. */
export interface UploadedFile {
  source: RenderSource;
  /** Path that the renderer may write to; on the volume of the originals if they are local. */
  cleanedPath: string;
  /** Stores the unprocessed bytes. The source stays in place. */
  putCopying(key: string, options: PutOptions): Promise<void>;
  /** Stores the unprocessed bytes, and may move the source into the store. Call it last. */
  putMoving(key: string, options: PutOptions): Promise<void>;
  /** Removes the temporary files. Never rejects. */
  dispose(): Promise<void>;
}

/** An upload that lies in the spool. */
export interface SpooledUpload extends UploadedFile {
  source: { path: string };
}

/** An upload just received. */
export function spooledUpload(originals: BlobStore, file: SpooledFile): SpooledUpload {
  const cleanedPath = `${file.path}.clean`;
  return {
    source: { path: file.path },
    cleanedPath,
    putCopying: (key, options) => putLinked(originals, key, file.path, options),
    putMoving: (key, options) => putFile(originals, key, file.path, options),
    async dispose() {
      await Promise.all([file.dispose(), removeFile(cleanedPath)]);
    },
  };
}

/** A stored upload that is waiting to be processed; `null`: there is none. */
export async function storedUpload(originals: BlobStore, id: string): Promise<UploadedFile | null> {
  const opened = await openSource(originals, keyOf.upload(id));
  if (opened === null) return null;
  const { source } = opened;
  const cleanedPath = `${temporaryPath(originals)}.clean`;
  const putCopying = async (key: string, options: PutOptions) => {
    if ("path" in source) await putLinked(originals, key, source.path, options);
    else await originals.put(key, source.bytes, options);
  };
  return { source, cleanedPath, putCopying, putMoving: putCopying, dispose: () => removeFile(cleanedPath) };
}

/** Stores the original of an admitted upload: its cleaned copy, or the unprocessed bytes. */
export async function putAdmitted(
  originals: BlobStore,
  key: string,
  upload: UploadedFile,
  admission: Admission,
  options: PutOptions,
): Promise<void> {
  if (admission.cleaned === null) await upload.putMoving(key, options);
  else await putFile(originals, key, upload.cleanedPath, options);
}

/** Stores a spooled file; a local store adopts the file itself. */
async function putFile(store: BlobStore, key: string, path: string, options: PutOptions): Promise<void> {
  if (isLocalStore(store)) await store.adopt(key, path, options);
  else {
    const body = createReadStream(path);
    // The file may be removed before a failed store opens it.
    await withBody(body, () => store.put(key, body, options));
  }
}

/** Like `putFile`, but stores a hard link or a copy of the file. */
async function putLinked(store: BlobStore, key: string, path: string, options: PutOptions): Promise<void> {
  if (!isLocalStore(store)) return putFile(store, key, path, options);
  const second = temporaryPath(store);
  try {
    await link(path, second).catch(() => copyFile(path, second));
    await store.adopt(key, second, options);
  } finally {
    await removeFile(second);
  }
}

/** A path for a temporary file. After a crash, the file is swept with its directory. */
export function temporaryPath(store: BlobStore): string {
  return join(
    isLocalStore(store) ? store.spoolDirectory : systemTemporaryDirectory(),
    `outrigger-${randomUUID()}`,
  );
}

export async function removeFile(path: string): Promise<void> {
  try {
    // Most files were moved away, or never written. The look is cheaper than a hop to the thread pool.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  } catch {
    // Unknown: removed below.
  }
  // Failures are ignored: the file is swept with the spool.
  await unlink(path).catch(() => undefined);
}
