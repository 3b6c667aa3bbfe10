import { LRUCache } from "lru-cache";
import { checkOptions } from "../../check-options.ts";
import type { KeyValue } from "../../contracts/key-value.ts";
import { preset, type RuleTable, whole } from "../../option-rules.ts";

export interface MemoryKeyValueOptions {
  /** Maximum number of keys, from 1; the least recently used are dropped first. @default 100_000 */
  maxKeys?: number | undefined;
}

const RULES = { maxKeys: preset(100_000, whole(1)) } satisfies RuleTable<MemoryKeyValueOptions>;

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
