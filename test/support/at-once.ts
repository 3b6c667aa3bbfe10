/**
 * Runs the same for several cases at once: for what waits most of its time, for a lease to end or for nodes to look again.
 * Ends when all have ended. Rejects with the first failure, which names its case.
 */
export async function atOnce<Case>(
  cases: readonly Case[],
  run: (each: Case) => Promise<void>,
): Promise<void> {
  const results = await Promise.allSettled(cases.map(run));
  for (const [at, result] of results.entries()) {
    if (result.status === "rejected")
      throw new Error(`Of ${JSON.stringify(cases[at])}`, { cause: result.reason });
  }
}
