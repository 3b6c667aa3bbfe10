import { randomBytes } from "node:crypto";
import { type FileHandle, link, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { systemCode } from "@outrigger/core/values";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { StartError } from "../../config/config-error.ts";

/**
 * Creates or replaces a file, readable by this user only. The replacement is atomic: a failure keeps the old content.
 * @throws StartError if it cannot be written.
 */
export async function writeWhole(path: string, content: Readable): Promise<void> {
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  const file = await opened(made, path);
  try {
    try {
      await writeFile(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(made, path);
  } catch (error) {
    await rm(made, { force: true });
    throw error;
  }
}

async function opened(made: string, path: string): Promise<FileHandle> {
  try {
    return await open(made, "wx", 0o600);
  } catch (cause) {
    throw new StartError(`${path} cannot be written: ${fileReasonOf(cause)}`, { cause });
  }
}

/** Creates a file atomically, readable by this user only. Keeps an existing file with the same content. */
export async function writeOnce(path: string, bytes: Buffer): Promise<void> {
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(made, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(made, path);
  } catch (error) {
    const isThere = systemCode(error) === "EEXIST";
    if (!isThere || !(await readFile(path)).equals(bytes)) throw error;
  } finally {
    await rm(made, { force: true });
  }
}
