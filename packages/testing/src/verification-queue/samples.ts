import type { VerificationQueue, VerificationRow } from "@outrigger/core/lookup";

/** The time at which lists are added, in Unix milliseconds. */
export const NOW = 1_790_000_000_000;
export const LEASE_MS = 40_000;

/** A list without its rows. */
export function listOf(id: string, account: string | null = `${id}-account`) {
  return { id, account, plan: "free", header: null, createdAt: NOW };
}

export function rowOf(email: string, columns: readonly string[] | null = null): VerificationRow {
  return { email, subject: email.toLowerCase(), columns, result: null };
}

/** Rows of addresses `p0@example.com`, `p1@example.com` and so on. */
export function rowsOf(count: number): VerificationRow[] {
  return Array.from({ length: count }, (_, index) => rowOf(`p${index}@example.com`));
}

/** Takes rows until none is due. */
export async function takeAll(queue: VerificationQueue, nowMs: number, limit = 100) {
  const all = [];
  for (;;) {
    const { rows } = await queue.take(limit, LEASE_MS, nowMs);
    if (rows.length === 0) return all;
    all.push(...rows);
  }
}
