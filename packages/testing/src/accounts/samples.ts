import type { Account, AccountKey } from "@outrigger/core/lookup";

/** An account with an ID and default values. */
export function accountOf(id: string): Account {
  return { id, email: null, firstName: null, lastName: null, plan: "free", createdAt: 1_790_000_000_000 };
}

export const KEY: AccountKey = { hint: "or_1", createdAt: 1, revokedAt: null };
