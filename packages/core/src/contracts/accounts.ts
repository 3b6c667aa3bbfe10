/** What is counted per account and month. */
export type QuotaKind = "searches" | "verifications";

/** Whoever has keys for the lookup. */
export interface Account {
  /** `[A-Za-z0-9_-]{1,64}` */
  id: string;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  /** Name of the plan, e.g. `free`. */
  plan: string;
  /** Unix milliseconds. */
  createdAt: number;
}

/** A key without what opens with it. */
export interface AccountKey {
  /** Its first characters, by which people tell keys apart. */
  hint: string;
  createdAt: number;
  /** `null` while it is valid. */
  revokedAt: number | null;
}

/** What a request may cost, before it is known what it does cost. */
export interface Charge {
  account: string;
  kind: QuotaKind;
  /** Month in which it counts, `YYYY-MM`, UTC. */
  month: string;
  /** What makes a request the same as another: `[A-Za-z0-9_-]{1,64}`. */
  request: string;
}

export type ReserveResult =
  /** So many points are reserved, at least 1 and at most what was asked for. */
  | { outcome: "reserved"; points: number }
  /** The same request was charged in this month, or is being charged now: it costs nothing. */
  | { outcome: "repeat"; points: number }
  /** None are left. */
  | { outcome: "exhausted" };

/**
 * Accounts, their keys, and what they have used up. Keys are known by their hash alone. All changes are atomic and shared by
 * all processes on the same data. Failures reject with `store_unavailable`, as do calls once it is closed.
 */
export interface Accounts {
  /** @returns `false` where an account of this ID exists, which is left as it is. */
  create(account: Account): Promise<boolean>;
  get(id: string): Promise<Account | null>;
  /** In order of creation; at most `limit` of 1 to 1000, behind the account `after`: behind one that is not there are none. */
  list(page: { limit: number; after?: string }): Promise<Account[]>;
  /** @param keyHash `[A-Za-z0-9_-]{43}`: SHA-256 of the key, base64url. Rejects with `conflict` where it is known. */
  addKey(account: string, keyHash: string, key: AccountKey): Promise<void>;
  /** The account whose valid key has this hash; `null` where there is none. */
  findByKey(keyHash: string): Promise<Account | null>;
  keys(account: string): Promise<AccountKey[]>;
  /** Revokes the valid keys of an account that begin with `hint`, all where it is empty. @returns how many. */
  revokeKeys(account: string, hint: string, atMs: number): Promise<number>;
  /**
   * Reserves `points` of what `allowance` leaves, or as many as are left. A reservation that is not settled within ten minutes
   * counts no more.
   * @param points an integer of at least 1.
   * @param nowMs Unix milliseconds.
   */
  reserve(charge: Charge, points: number, allowance: number, nowMs: number): Promise<ReserveResult>;
  /**
   * Replaces a reservation by what the request cost; with 0 it is as if it had never been. What was never reserved, or is settled
   * already, stays as it is. One that has lapsed and was not made again counts what it cost all the same.
   */
  settle(charge: Charge, points: number): Promise<void>;
  /** Points used in a month, reservations included. What was charged before the last month may be forgotten. */
  usage(account: string, month: string, nowMs: number): Promise<Record<QuotaKind, number>>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
