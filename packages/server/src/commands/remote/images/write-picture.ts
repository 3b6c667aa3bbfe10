import { randomBytes } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { link, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isError, systemCode } from "@outrigger/core/values";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { printable } from "../../../cli/printable.ts";
import { StartError } from "../../../config/config-error.ts";

/** The destination of a picture. */
export interface Place {
  path: string;
  /** Whether to replace an existing file. */
  force: boolean;
  /** Whether the path is a device or a pipe, which is written directly. */
  isStream: boolean;
}

type Bytes = AsyncIterable<Uint8Array>;

/** Writes to standard output. The reader may end early. @throws StartError if it cannot be written. */
export async function writeToOutput(bytes: Bytes, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(bytes, process.stdout, { signal, end: false });
  } catch (error) {
    if (codeOf(error) !== "EPIPE") throw writeError("Standard output", error);
  }
}

/**
 * Determines the destination before the request.
 * @param typed A file, or a directory for a file called `name`.
 * @throws StartError if the file exists and must not be replaced.
 */
export async function placeOf(typed: string | undefined, name: string, force: boolean): Promise<Place> {
  const there = typed === undefined ? null : await statOf(typed);
  const path = typed === undefined ? name : there?.isDirectory() ? join(typed, name) : typed;
  const stats = path === typed ? there : await statOf(path);
  const isStream = stats !== null && !stats.isFile() && !stats.isDirectory();
  if (stats?.isDirectory()) throw new StartError(`${printable(path)} is a directory`);
  if (stats !== null && !isStream && !force) throw isThere(path);
  return { path, force, isStream };
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw writeError(printable(path), error);
  }
}

/**
 * Writes a file atomically, through a temporary file in the same directory. A failure keeps the old file, and a partial file
 * is never visible.
 * @returns The number of bytes written.
 * @throws StartError if it cannot be written.
 */
export async function writePicture(place: Place, bytes: Bytes, signal: AbortSignal): Promise<number> {
  try {
    const { path, isStream } = place;
    return isStream ? await pump(bytes, createWriteStream(path), signal) : await write(place, bytes, signal);
  } catch (error) {
    throw writeError(printable(place.path), error);
  }
}

async function write({ path, force }: Place, bytes: Bytes, signal: AbortSignal): Promise<number> {
  const made = `${path}.${randomBytes(6).toString("hex")}.part`;
  const file = await open(made, "wx");
  try {
    const count = await pump(bytes, file.createWriteStream({ flush: true }), signal);
    await (force ? rename(made, path) : putWhereNothingIs(made, path));
    return count;
  } finally {
    await rm(made, { force: true });
  }
}

/** @returns The number of bytes written. */
async function pump(bytes: Bytes, output: WriteStream, signal: AbortSignal): Promise<number> {
  await pipeline(bytes, output, { signal });
  return output.bytesWritten;
}

/** Never replaces a file that another process has created meanwhile. */
async function putWhereNothingIs(made: string, path: string): Promise<void> {
  try {
    await link(made, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw isThere(path);
    // A file system without hard links: a race between check and rename remains, but no partial picture.
    if ((await statOf(path)) !== null) throw isThere(path);
    await rename(made, path);
  }
}

function isThere(path: string): StartError {
  return new StartError(`${printable(path)} already exists; --force replaces it, --output sets another`);
}

/** The failure of a system call as a sentence. Other errors, such as a truncated reply, are returned unchanged. */
function writeError(what: string, error: unknown): unknown {
  if (!(isError(error) && "syscall" in error)) return error;
  return new StartError(`${what} cannot be written: ${fileReasonOf(error)}`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return systemCode(error);
}
