/** The actions counted per account and month. */
export type QuotaKind = "searches" | "verifications";

/** A customer of the lookup: the owner of API keys. */
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

/** An API key without its secret. */
export interface AccountKey {
  /** The first characters of the key, by which people tell keys apart. */
  hint: string;
  createdAt: number;
  /** `null` while it is valid. */
  revokedAt: number | null;
}

/** A reservation lapses this long after it was made or last renewed, in milliseconds. */
export const RESERVATION_MS = 45_000;

/** A request to be charged. It is reserved before its final cost is known. */
export interface Charge {
  account: string;
  kind: QuotaKind;
  /** The month that is charged, `YYYY-MM`, UTC. */
  month: string;
  /** Identifies the request: two charges with the same value are the same request. `[A-Za-z0-9_-]{1,64}` */
  request: string;
}

export type ReserveResult =
  /** This many points are reserved: at least 1, at most the points requested. */
  | { outcome: "reserved"; points: number }
  /** The same request was charged in this month, or is being charged now. It costs nothing. */
  | { outcome: "repeat"; points: number }
  /** No points are left. */
  | { outcome: "exhausted" };

/**
 * Accounts, their keys and their usage. Keys are stored as hashes only. All changes are atomic and shared by
 * all processes on the same data. Failures reject with `store_unavailable`; so does every call after `close`.
 */
export interface Accounts {
  /** @returns `false` if an account with this ID exists; that account stays unchanged. */
  create(account: Account): Promise<boolean>;
  get(id: string): Promise<Account | null>;
  /**
   * Accounts in order of creation: at most `limit` (1 to 1000), after the account `after`. An unknown `after`
   * yields none.
   */
  list(page: { limit: number; after?: string }): Promise<Account[]>;
  /**
   * Rejects with `conflict` if the hash is already stored.
   * @param keyHash `[A-Za-z0-9_-]{43}`: SHA-256 of the key, base64url.
   */
  addKey(account: string, keyHash: string, key: AccountKey): Promise<void>;
  /** The account whose valid key has this hash; `null` if there is none. */
  findByKey(keyHash: string): Promise<Account | null>;
  keys(account: string): Promise<AccountKey[]>;
  /**
   * Revokes the valid keys of an account whose hint begins with `hint`; an empty `hint` revokes all.
   * @returns the number of revoked keys.
   */
  revokeKeys(account: string, hint: string, atMs: number): Promise<number>;
  /**
   * Reserves `points` within `allowance`, or as many points as are left. A reservation that is neither settled
   * nor renewed within {@link RESERVATION_MS} lapses: its points are free again.
   * @param points an integer of at least 1.
   * @param nowMs Unix milliseconds.
   */
  reserve(charge: Charge, points: number, allowance: number, nowMs: number): Promise<ReserveResult>;
  /** What {@link Accounts.reserve} would return now; changes nothing. */
  preview(charge: Charge, points: number, allowance: number, nowMs: number): Promise<ReserveResult>;
  /** {@link Accounts.reserve} and {@link Accounts.settle} with the granted points, in one step. */
  charge(charge: Charge, points: number, allowance: number, nowMs: number): Promise<ReserveResult>;
  /**
   * Renews reservations, so that they lapse {@link RESERVATION_MS} after `nowMs`. Lapsed and settled ones, and
   * charges without a reservation, stay unchanged.
   */
  renew(charges: readonly Charge[], nowMs: number): Promise<void>;
  /**
   * Replaces a reservation by the final cost; 0 removes it. A charge without a reservation, or a settled one,
   * stays unchanged. A lapsed reservation that was not made again is still charged its final cost.
   */
  settle(charge: Charge, points: number): Promise<void>;
  /** Points used in a month, reservations included. Charges older than the previous month may be deleted. */
  usage(account: string, month: string, nowMs: number): Promise<Record<QuotaKind, number>>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
