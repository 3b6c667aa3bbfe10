/** The part of Keyv that is used, so that any Keyv instance fits. Values are JSON. */
export interface KeyValue {
  /** `undefined` where there is none, or its time is over. */
  get(key: string): Promise<unknown>;
  /** @param ttlMs how long it is kept, in milliseconds; absent: for ever. */
  set(key: string, value: unknown, ttlMs?: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
}
