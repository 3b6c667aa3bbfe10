import type { Account, Accounts } from "@outrigger/core/lookup";

/** Two accounts objects on the same data, and an ID that no other case uses. */
export interface AccountsScope {
  one: Accounts;
  another: Accounts;
  id: string;
}

export type AccountsTest = (name: string, body: (scope: AccountsScope) => Promise<void>) => void;

/** An account with an ID and default values. */
export function accountOf(id: string): Account {
  return { id, email: null, firstName: null, lastName: null, plan: "free", createdAt: 1_790_000_000_000 };
}
