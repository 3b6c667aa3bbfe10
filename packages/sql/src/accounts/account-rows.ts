import type { Account, AccountKey } from "@outrigger/core";

export interface AccountRow {
  id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  plan: string;
  created_at: number;
}

export interface KeyRow {
  hint: string;
  created_at: number;
  revoked_at: number | null;
}

export function accountOf(row: AccountRow): Account {
  const { id, email, first_name: firstName, last_name: lastName, plan, created_at: createdAt } = row;
  return { id, email, firstName, lastName, plan, createdAt };
}

export function keyOf({ hint, created_at: createdAt, revoked_at: revokedAt }: KeyRow): AccountKey {
  return { hint, createdAt, revokedAt };
}
