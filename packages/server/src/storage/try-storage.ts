import type { BlobStore } from "@outrigger/core/stores";

const BYTES = Buffer.from("ready\n");

/** Writes, reads and deletes a blob. Rejects if an operation fails or the bytes read differ. */
export async function tryStorage(storage: BlobStore, key: string, signal?: AbortSignal): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  await storage.put(key, BYTES, options);
  const blob = await storage.get(key, options);
  if (blob === null) throw new Error("The blob written is missing");
  const chunks = Buffer.isBuffer(blob.body) ? [blob.body] : await blob.body.toArray(options);
  if (!Buffer.concat(chunks).equals(BYTES)) throw new Error("The bytes read differ from the bytes written");
  await storage.delete(key);
}
