import { LRUCache } from "lru-cache";
import type { KeyValue } from "../../contracts/key-value.ts";

/** Maximum number of keys; the least recently used are dropped first. */
const MAX_KEYS = 100_000;

/** Values in this process's memory. */
export function createMemoryKeyValue(): KeyValue {
  // Stored as text, so that a caller cannot change the stored value.
  const values = new LRUCache<string, string>({ max: MAX_KEYS });
  return {
    async get(key) {
      const text = values.get(key);
      return text === undefined ? undefined : JSON.parse(text);
    },
    async set(key, value, ttlMs) {
      values.set(
        key,
        JSON.stringify(value),
        ttlMs === undefined ? {} : { ttl: Math.max(1, Math.ceil(ttlMs)) },
      );
    },
    async delete(key) {
      return values.delete(key);
    },
  };
}
