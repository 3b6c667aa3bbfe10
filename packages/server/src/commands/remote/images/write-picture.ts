import { randomBytes } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { link, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isError, systemCode } from "@outrigger/core";
import { reasonOf } from "../../../cli/error-reason.ts";
import { printable } from "../../../cli/printable.ts";
import { StartError } from "../../../config/config-error.ts";

/** Where a picture is written to. */
export interface Place {
  path: string;
  /** Takes the place of a file that is there. */
  force: boolean;
  /** A device or a pipe, which has no beside and is written to as it is. */
  isStream: boolean;
}

type Bytes = AsyncIterable<Uint8Array>;

/** Writes to the standard output. The reader may end early. @throws StartError where it cannot be written. */
export async function writeToOutput(bytes: Bytes, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(bytes, process.stdout, { signal, end: false });
  } catch (error) {
    if (codeOf(error) !== "EPIPE") throw writeError("The standard output", error);
  }
}

/**
 * Finds out where to write, before anything is asked for.
 * @param typed A file, or a directory that gets one called `name`.
 * @throws StartError where a file is there that is not to be replaced.
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
 * Writes a file beside its place, and puts it there when it is whole: what was there stays when that fails, and nobody ever
 * sees a part of it.
 * @returns how many bytes there were.
 * @throws StartError where it cannot be written.
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

/** @returns how many bytes there were. */
async function pump(bytes: Bytes, output: WriteStream, signal: AbortSignal): Promise<number> {
  await pipeline(bytes, output, { signal });
  return output.bytesWritten;
}

/** Never replaces a file that another process has put there meanwhile. */
async function putWhereNothingIs(made: string, path: string): Promise<void> {
  try {
    await link(made, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw isThere(path);
    // A file system without hard links: between the look and the renaming lies a moment, but no part of a picture.
    if ((await statOf(path)) !== null) throw isThere(path);
    await rename(made, path);
  }
}

function isThere(path: string): StartError {
  return new StartError(`${printable(path)} is there already; --force replaces it, --output names another`);
}

/** What a system call failed with as a sentence; anything else, such as a reply that was cut off, as it is. */
function writeError(what: string, error: unknown): unknown {
  if (!(isError(error) && "syscall" in error)) return error;
  return new StartError(`${what} cannot be written: ${reasonOf(error)}`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return systemCode(error);
}
