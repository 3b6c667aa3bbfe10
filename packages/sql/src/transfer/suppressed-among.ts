/**
 * Returns which of at most 100 normalised addresses and domains are suppressed. A suppressed domain covers
 * its addresses.
 */
export type SuppressionTest = (subjects: readonly string[]) => Promise<ReadonlySet<string>>;

const BATCH = 100;

/** Returns which of any number of addresses and domains are suppressed; none without a test. */
export async function suppressedAmong(
  subjects: readonly string[],
  isSuppressed: SuppressionTest | undefined,
): Promise<ReadonlySet<string>> {
  const suppressed = new Set<string>();
  if (isSuppressed === undefined) return suppressed;
  const distinct = [...new Set(subjects)];
  for (let start = 0; start < distinct.length; start += BATCH) {
    for (const subject of await isSuppressed(distinct.slice(start, start + BATCH))) suppressed.add(subject);
  }
  return suppressed;
}
