/** The part of Keyv's interface that Outrigger uses; any Keyv instance fits. Values are JSON. */
export interface KeyValue {
  /** `undefined` if there is no value, or it has expired. */
  get(key: string): Promise<unknown>;
  /** @param ttlMs lifetime in milliseconds; absent: unlimited. */
  set(key: string, value: unknown, ttlMs?: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
}
