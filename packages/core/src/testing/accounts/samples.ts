import type { Account, Accounts } from "../../contracts/accounts.ts";

/** Accounts twice on the same data, and an ID that no other case has. */
export interface AccountsScope {
  one: Accounts;
  another: Accounts;
  id: string;
}

export type AccountsTest = (name: string, body: (scope: AccountsScope) => Promise<void>) => void;

/** An account of which nothing more is known. */
export function accountOf(id: string): Account {
  return { id, email: null, firstName: null, lastName: null, plan: "free", createdAt: 1_790_000_000_000 };
}
