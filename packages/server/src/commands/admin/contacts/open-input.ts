import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { StartError } from "../../../config/config-error.ts";

/** An open input file. */
export interface Input {
  bytes: AsyncIterable<Uint8Array>;
  /** `null` if unknown. */
  totalBytes: number | null;
  /** Bytes read until now. */
  readBytes(): number;
  /** Stops reading. */
  close(): void;
}

/** @param file `-` for standard input. @throws StartError if the file cannot be read. */
export async function openInput(file: string): Promise<Input> {
  const { stream, totalBytes } =
    file === "-" ? { stream: process.stdin, totalBytes: null } : await openFile(file);
  let read = 0;

  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      // Neither stream has an encoding, so chunks are bytes.
      const bytes = chunk as Buffer;
      read += bytes.length;
      yield bytes;
    }
  }

  return { bytes: counted(), totalBytes, readBytes: () => read, close: () => void stream.destroy() };
}

async function openFile(file: string) {
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      await handle.close();
      throw new Error("it is a directory");
    }
    const stream = createReadStream(file, { fd: handle, highWaterMark: 256 * 1024 });
    return { stream, totalBytes: stats.isFile() ? stats.size : null };
  } catch (cause) {
    throw new StartError(`${file} cannot be read: ${fileReasonOf(cause)}`, { cause });
  }
}
