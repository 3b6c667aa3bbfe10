import { randomBytes } from "node:crypto";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { isError, systemCode } from "@outrigger/core/values";
import { StartError } from "../config/config-error.ts";
import { fileReasonOf } from "./error-reason.ts";
import { printable } from "./print.ts";

type Content = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/**
 * Writes a file atomically, readable by this user only, through a temporary file in the same directory. A failure keeps the
 * old file, and a partial file is never visible.
 * @param replace Whether an existing file is replaced; otherwise it is an error, with the code `EEXIST`. @default true
 * @throws StartError if it cannot be written.
 */
export async function writeAtomically(path: string, content: Content, replace = true): Promise<void> {
  const made = `${path}.${randomBytes(6).toString("hex")}.part`;
  let contentError: unknown;
  async function* passed(source: Content) {
    try {
      yield* source;
    } catch (error) {
      contentError = error;
      throw error;
    }
  }
  try {
    if (!replace && (await isThere(path)))
      throw Object.assign(new Error("exists"), { code: "EEXIST", syscall: "open" });
    const output = (await open(made, "wx", 0o600)).createWriteStream({ flush: true });
    await pipeline(passed(content), output);
    // A link never replaces a file that another process has created meanwhile. Some file systems have none.
    const moved = replace ? rename(made, path) : link(made, path);
    await moved.catch(async (error: unknown) => {
      if (replace || (await isThere(path))) throw error;
      await rename(made, path);
    });
  } catch (cause) {
    if (cause === contentError || !isError(cause) || !("syscall" in cause)) throw cause;
    throw new StartError(`${printable(path)} cannot be written: ${fileReasonOf(cause)}`, { cause });
  } finally {
    await rm(made, { force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  // A failure is ignored here: writing the file reports it.
  return (await stat(path).catch(() => null)) !== null;
}

/** Creates a file atomically, readable by this user only. Keeps an existing file with the same content. @throws StartError */
export async function writeOnce(path: string, bytes: Buffer): Promise<void> {
  try {
    await writeAtomically(path, [bytes], false);
  } catch (error) {
    const isKept = isError(error) && systemCode(error.cause) === "EEXIST";
    if (!isKept || !(await readFile(path)).equals(bytes)) throw error;
  }
}
