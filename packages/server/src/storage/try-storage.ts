import type { BlobStore } from "@outrigger/core";

const BYTES = Buffer.from("ready\n");

/** Writes, reads and deletes a blob. Rejects where the storage cannot do that, or does something else. */
export async function tryStorage(storage: BlobStore, key: string, signal?: AbortSignal): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  await storage.put(key, BYTES, options);
  const blob = await storage.get(key, options);
  if (blob === null) throw new Error("What was stored is not there");
  const chunks = Buffer.isBuffer(blob.body) ? [blob.body] : await blob.body.toArray(options);
  if (!Buffer.concat(chunks).equals(BYTES)) throw new Error("What was stored came back as something else");
  await storage.delete(key);
}
