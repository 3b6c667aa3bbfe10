import type { BlobStore } from "../src/contracts/blob-store.ts";

/** A store that a test replaces while the service runs, like a mount. */
export function createMount(first: BlobStore): BlobStore & { under: BlobStore } {
  const mount = {
    under: first,
    put: (...args: Parameters<BlobStore["put"]>) => mount.under.put(...args),
    get: (...args: Parameters<BlobStore["get"]>) => mount.under.get(...args),
    stat: (key: string) => mount.under.stat(key),
    delete: (key: string) => mount.under.delete(key),
    list: (...args: Parameters<BlobStore["list"]>) => mount.under.list(...args),
    close: async () => {},
  };
  return mount;
}
