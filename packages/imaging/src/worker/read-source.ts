import { readFile } from "node:fs/promises";
import { type RenderSource, ServiceError } from "@outrigger/core";

/** All bytes of a source. Rejects with `store_unavailable` when its file cannot be read. */
export async function readSource(source: RenderSource): Promise<Buffer> {
  if ("bytes" in source) {
    const { buffer, byteOffset, byteLength } = source.bytes;
    return Buffer.from(buffer, byteOffset, byteLength);
  }
  try {
    return (await readFile(source.path)).subarray(source.start);
  } catch (cause) {
    throw new ServiceError("store_unavailable", "The stored image cannot be read just now.", { cause });
  }
}
