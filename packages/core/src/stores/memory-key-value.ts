import { LRUCache } from "lru-cache";
import type { KeyValue } from "../contracts/key-value.ts";

export interface MemoryKeyValueOptions {
  /** At most this many keys, an integer of at least 1; the least recently used go first. @default 100_000 */
  maxKeys?: number;
}

/** Values in this process' memory. */
export function createMemoryKeyValue({ maxKeys = 100_000 }: MemoryKeyValueOptions = {}): KeyValue {
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) {
    throw new TypeError("maxKeys must be a whole number from 1");
  }
  // As text, so that nobody changes what is kept.
  const values = new LRUCache<string, string>({ max: maxKeys });
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
