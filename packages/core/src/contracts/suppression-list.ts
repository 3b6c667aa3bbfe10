/**
 * Who asked to be left out, by tokens that nobody can read an address from. Shared by all processes on the same data; failures
 * reject with `store_unavailable`, as do calls once it is closed.
 */
export interface SuppressionList {
  /** @param tokens each `[A-Za-z0-9_-]{43}`; those that are there stay. All or none. */
  add(tokens: readonly string[]): Promise<void>;
  /**
   * Adds `token` and `others` in one step, unless `token` is there: then nothing is added. Of several calls at once for the same
   * token, one adds.
   * @returns whether they were added.
   */
  claim(token: string, others: readonly string[]): Promise<boolean>;
  /** @returns how many were there. */
  remove(tokens: readonly string[]): Promise<number>;
  /** Which of at most 200 tokens are there. */
  present(tokens: readonly string[]): Promise<ReadonlySet<string>>;
  count(): Promise<number>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
