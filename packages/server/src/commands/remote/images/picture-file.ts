import { createReadStream } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { OriginalType } from "@outrigger/core/images";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { formatOfType } from "../../../cli/image-formats.ts";
import { printable } from "../../../cli/printable.ts";
import { StartError } from "../../../config/config-error.ts";
import { HEAD_BYTES, PICTURE_TYPES, pictureTypeOf } from "./picture-type.ts";

/** A file that starts with the bytes of a picture. */
export interface PictureFile {
  /** The path as typed; `-` for standard input. */
  shown: string;
  /** File name without directories; generated for an input that is not a file. */
  name: string;
  type: OriginalType;
  /** Bytes. */
  size: number;
  /** A new stream of all bytes, for each call. */
  stream(): ReadableStream<Uint8Array>;
  /** Deletes the temporary file, if there is one. */
  close(): Promise<void>;
}

/** An argument of `upload`: a file of this machine, or one that the service fetches. */
export type Picture = PictureFile | (Pick<PictureFile, "shown" | "size" | "close"> & { url: string });

const TYPES = Object.values(PICTURE_TYPES).join(", ");

/**
 * Checks a file before it is sent. Spools an input without a length, such as a pipe, to a temporary file.
 * @param path `-` for standard input, or a URL, which the service checks.
 * @throws StartError with the reason why it cannot be uploaded.
 */
export async function openPicture(path: string, signal: AbortSignal): Promise<Picture> {
  if (/^https?:\/\//i.test(path))
    return { shown: withoutQuery(path), url: path, size: 0, close: async () => {} };
  try {
    const stats = path === "-" ? null : await stat(path);
    if (stats?.isDirectory()) throw new Error("it is a directory");
    return stats?.isFile() ? await fileAt(path, path) : await spooled(path, signal);
  } catch (cause) {
    throw new StartError(`${printable(path)}: cannot be uploaded: ${fileReasonOf(cause)}`, { cause });
  }
}

/** The query may hold secrets, and the name is printed. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

async function fileAt(path: string, shown: string): Promise<PictureFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size === 0) throw new Error("it is empty");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const type = pictureTypeOf(buffer.subarray(0, bytesRead), shown);
    if (type === null) throw new Error(`its content is not one of ${TYPES}`);
    return {
      shown,
      name: basename(shown),
      type,
      size,
      stream: () => ReadableStream.from(bytesOf(path, shown, size)),
      close: async () => {},
    };
  } finally {
    await file.close();
  }
}

/** The first `size` bytes of a file, which may have grown. @throws StartError if it has become shorter. */
async function* bytesOf(path: string, shown: string, size: number): AsyncGenerator<Uint8Array> {
  let given = 0;
  try {
    for await (const chunk of createReadStream(path, { end: size - 1 })) {
      // A stream without an encoding yields bytes.
      const bytes = chunk as Buffer;
      given += bytes.length;
      yield bytes;
    }
  } catch (cause) {
    throw new StartError(`${printable(shown)}: cannot be read: ${fileReasonOf(cause)}`, { cause });
  }
  if (given < size) throw new StartError(`${printable(shown)}: was truncated during the upload`);
}

/** Reads a pipe completely. Fails early if it does not start like a picture. */
async function spooled(path: string, signal: AbortSignal): Promise<PictureFile> {
  // Loaded only here: most uploads read a regular file.
  const { systemTemporaryDirectory } = await import("@outrigger/core/stores");
  const directory = await mkdtemp(join(systemTemporaryDirectory(), "input-"));
  const close = () => rm(directory, { recursive: true, force: true });
  const kept = join(directory, "input");
  try {
    const file = await open(kept, "wx", 0o600);
    const input = path === "-" ? process.stdin : createReadStream(path);
    await pipeline(input, (chunks) => onlyPictures(chunks, path), file.createWriteStream(), { signal });
    const picture = await fileAt(kept, path);
    return { ...picture, name: `image.${formatOfType(picture.type)}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Passes the chunks on if they start like a picture; otherwise throws. */
async function* onlyPictures(chunks: AsyncIterable<Buffer>, path: string): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < HEAD_BYTES) continue;
    if (pictureTypeOf(head, path) === null) throw new Error(`its content is not one of ${TYPES}`);
    yield head;
    head = null;
  }
  if (head !== null) yield head;
}
