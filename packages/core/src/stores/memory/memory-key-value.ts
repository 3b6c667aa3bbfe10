import { LRUCache } from "lru-cache";
import { checkOptions } from "../../check-options.ts";
import type { KeyValue } from "../../contracts/key-value.ts";
import { type Options, preset, whole } from "../../option-rules.ts";

const RULES = {
  /** Maximum number of keys, from 1; the least recently used are dropped first. @default 100_000 */
  maxKeys: preset(100_000, whole(1)),
};

export interface MemoryKeyValueOptions extends Options<typeof RULES> {}

/** Values in this process's memory. */
export function createMemoryKeyValue(options: MemoryKeyValueOptions = {}): KeyValue {
  const { maxKeys } = checkOptions("createMemoryKeyValue", options, RULES);
  // Stored as text, so that a caller cannot change the stored value.
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
