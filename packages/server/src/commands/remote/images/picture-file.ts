import { createReadStream } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { OriginalType } from "@outrigger/core";
import { reasonOf } from "../../../cli/error-reason.ts";
import { formatOfType } from "../../../cli/image-formats.ts";
import { printable } from "../../../cli/printable.ts";
import { StartError } from "../../../config/config-error.ts";
import { HEAD_BYTES, PICTURE_TYPES, pictureTypeOf } from "./picture-type.ts";

/** A file whose first bytes are those of a picture. */
export interface PictureFile {
  /** As it was typed; `-` is the standard input. */
  shown: string;
  /** Without directories; made up for what is no file. */
  name: string;
  type: OriginalType;
  /** Bytes. */
  size: number;
  /** Its bytes from the beginning, as often as it is called. */
  stream(): ReadableStream<Uint8Array>;
  /** Removes what was kept of it for the while. */
  close(): Promise<void>;
}

const TYPES = Object.values(PICTURE_TYPES).join(", ");

/**
 * Looks at a file before anything of it is sent. What has no length, as a pipe, is kept in a temporary file meanwhile.
 * @param path `-` is the standard input.
 * @throws StartError saying why it cannot be uploaded.
 */
export async function openPicture(path: string, signal: AbortSignal): Promise<PictureFile> {
  try {
    const stats = path === "-" ? null : await stat(path);
    if (stats?.isDirectory()) throw new Error("it is a directory");
    return stats?.isFile() ? await fileAt(path, path) : await spooled(path, signal);
  } catch (cause) {
    throw new StartError(`${printable(path)}: cannot be uploaded: ${reasonOf(cause)}`, { cause });
  }
}

async function fileAt(path: string, shown: string): Promise<PictureFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size === 0) throw new Error("it is empty");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const type = pictureTypeOf(buffer.subarray(0, bytesRead), shown);
    if (type === null) throw new Error(`its content is none of ${TYPES}`);
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

/** So many bytes of a file: one that grows meanwhile is sent as it was. @throws StartError where there are fewer. */
async function* bytesOf(path: string, shown: string, size: number): AsyncGenerator<Uint8Array> {
  let given = 0;
  try {
    for await (const chunk of createReadStream(path, { end: size - 1 })) {
      // A stream without encoding gives bytes.
      const bytes = chunk as Buffer;
      given += bytes.length;
      yield bytes;
    }
  } catch (cause) {
    throw new StartError(`${printable(shown)}: cannot be read: ${reasonOf(cause)}`, { cause });
  }
  if (given < size) throw new StartError(`${printable(shown)}: has become shorter while it was sent`);
}

/** Reads all of a pipe. Bytes of no picture are not waited for. */
async function spooled(path: string, signal: AbortSignal): Promise<PictureFile> {
  // Loaded only here: most commands read a file that is there.
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

/** Lets pass what begins as a picture does, and nothing else. */
async function* onlyPictures(chunks: AsyncIterable<Buffer>, path: string): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < HEAD_BYTES) continue;
    if (pictureTypeOf(head, path) === null) throw new Error(`its content is none of ${TYPES}`);
    yield head;
    head = null;
  }
  if (head !== null) yield head;
}
