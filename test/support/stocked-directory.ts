import { createHash, randomBytes } from "node:crypto";
import { createFsBlobStore } from "@outrigger/core";

/** Fills a data directory as a server would, with images of random bytes. @returns their IDs. */
export async function stockDirectory(directory: string, images: number, bytes: number): Promise<string[]> {
  const store = createFsBlobStore({ directory });
  await store.localSecret();
  const ids: string[] = [];
  const now = Date.now();
  for (let index = 0; index < images; index++) {
    const id = randomBytes(16).toString("base64url");
    const original = randomBytes(bytes);
    const record = {
      ...{ v: 1, id, name: `${index}.jpg`, type: "image/jpeg", width: 64, height: 48, pages: 1, agent: null },
      ...{ size: bytes, sha256: createHash("sha256").update(original).digest("hex") },
      ...{ createdAt: now, updatedAt: now, expiresAt: now + 86_400_000 },
      ...{ owner: null, gone: null, withheld: null, processing: null, failure: null },
    };
    await store.put(`${id}/original`, original);
    await store.put(`${id}/record`, Buffer.from(JSON.stringify(record)));
    ids.push(id);
  }
  await store.close();
  return ids;
}
