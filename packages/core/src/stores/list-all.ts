import type { BlobStore } from "../contracts/blob-store.ts";

/** All keys that begin with `prefix`, page by page. */
export async function* listAll(store: Pick<BlobStore, "list">, prefix: string): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await store.list(prefix, cursor === undefined ? {} : { cursor });
    yield* page.keys;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
