/**
 * Addresses whose owners opted out, stored as tokens that do not reveal the address. Shared by all processes
 * on the same data. Failures reject with `store_unavailable`; so does every call after `close`.
 */
export interface SuppressionList {
  /** Adds all tokens or none; existing tokens stay. @param tokens each `[A-Za-z0-9_-]{43}`. */
  add(tokens: readonly string[]): Promise<void>;
  /**
   * Adds `token` and `others` in one step, unless `token` exists: then it adds nothing. Of several
   * simultaneous calls for the same token, exactly one adds.
   * @returns whether this call added them.
   */
  claim(token: string, others: readonly string[]): Promise<boolean>;
  /** @returns the number of removed tokens. */
  remove(tokens: readonly string[]): Promise<number>;
  /** The subset of at most 200 tokens that is on the list. */
  present(tokens: readonly string[]): Promise<ReadonlySet<string>>;
  count(): Promise<number>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
