import type { KeyValue } from "@outrigger/core";

/** Keeps values in this process, `maxEntries` of them: those that were written first go first. */
export function createMemoryCache(maxEntries: number): KeyValue {
  const entries = new Map<string, unknown>();
  return {
    get: async (key) => entries.get(key),
    // Who reads them knows how long they hold.
    async set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break;
        entries.delete(oldest);
      }
    },
    delete: async (key) => entries.delete(key),
  };
}
