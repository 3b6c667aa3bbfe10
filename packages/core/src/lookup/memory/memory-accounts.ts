import {
  type Account,
  type AccountKey,
  type Accounts,
  type Charge,
  type QuotaKind,
  RESERVATION_MS,
  type ReserveResult,
} from "../../contracts/accounts.ts";
import { ServiceError } from "../../errors.ts";

interface Charged {
  charge: Charge;
  points: number;
  /** Unix milliseconds; `null` once it is settled. */
  reservedAt: number | null;
}

/** Accounts in this process's memory, for tests and trials. Past months stay in memory. */
export function createMemoryAccounts(): Accounts {
  return new MemoryAccounts();
}

class MemoryAccounts implements Accounts {
  readonly #accounts = new Map<string, Account>();
  readonly #keysByHash = new Map<string, { account: string; key: AccountKey }>();
  /** By account, month and kind, then by request. */
  readonly #charged = new Map<string, Map<string, Charged>>();
  #isClosed = false;

  async create(account: Account): Promise<boolean> {
    this.#mustBeOpen();
    if (this.#accounts.has(account.id)) return false;
    this.#accounts.set(account.id, { ...account });
    return true;
  }

  async get(id: string): Promise<Account | null> {
    this.#mustBeOpen();
    return copy(this.#accounts.get(id));
  }

  async list({ limit, after }: { limit: number; after?: string }): Promise<Account[]> {
    this.#mustBeOpen();
    const ids = [...this.#accounts.keys()];
    if (after !== undefined && !this.#accounts.has(after)) return [];
    const start = after === undefined ? 0 : ids.indexOf(after) + 1;
    return [...this.#accounts.values()].slice(start, start + limit).map((account) => ({ ...account }));
  }

  async addKey(account: string, keyHash: string, key: AccountKey): Promise<void> {
    this.#mustBeOpen();
    if (this.#keysByHash.has(keyHash)) throw new ServiceError("conflict", "This key already exists");
    this.#keysByHash.set(keyHash, { account, key: { ...key } });
  }

  async findByKey(keyHash: string): Promise<Account | null> {
    this.#mustBeOpen();
    const known = this.#keysByHash.get(keyHash);
    const account = this.#accounts.get(known?.account ?? "");
    if (known === undefined || known.key.revokedAt !== null) return null;
    return copy(account);
  }

  async keys(account: string): Promise<AccountKey[]> {
    this.#mustBeOpen();
    const known = [...this.#keysByHash.values()].filter((each) => each.account === account);
    return known.map(({ key }) => ({ ...key }));
  }

  async revokeKeys(account: string, hint: string, atMs: number): Promise<number> {
    this.#mustBeOpen();
    const revoked = [...this.#keysByHash.values()].filter(
      (known) => known.account === account && known.key.revokedAt === null && known.key.hint.startsWith(hint),
    );
    for (const { key } of revoked) key.revokedAt = atMs;
    return revoked.length;
  }

  async reserve(charge: Charge, points: number, allowance: number, nowMs: number): Promise<ReserveResult> {
    return this.#grant(charge, points, allowance, nowMs, nowMs);
  }

  async preview(charge: Charge, points: number, allowance: number, nowMs: number): Promise<ReserveResult> {
    return this.#judge(charge, points, allowance, nowMs);
  }

  async charge(charge: Charge, points: number, allowance: number, nowMs: number): Promise<ReserveResult> {
    return this.#grant(charge, points, allowance, nowMs, null);
  }

  async renew(charges: readonly Charge[], nowMs: number): Promise<void> {
    this.#mustBeOpen();
    for (const charge of charges) {
      const reserved = this.#chargedOf(charge).get(charge.request);
      if (reserved !== undefined && reserved.reservedAt !== null && counts(reserved, nowMs)) {
        reserved.reservedAt = nowMs;
      }
    }
  }

  async settle(charge: Charge, points: number): Promise<void> {
    this.#mustBeOpen();
    const known = this.#chargedOf(charge);
    const reserved = known.get(charge.request);
    if (reserved === undefined || reserved.reservedAt === null) return;
    if (points === 0) known.delete(charge.request);
    else known.set(charge.request, { charge, points, reservedAt: null });
  }

  async usage(account: string, month: string, nowMs: number): Promise<Record<QuotaKind, number>> {
    this.#mustBeOpen();
    return {
      searches: usedOf(this.#chargedOf({ account, month, kind: "searches" }), nowMs),
      verifications: usedOf(this.#chargedOf({ account, month, kind: "verifications" }), nowMs),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The accounts are closed");
  }

  #chargedOf({ account, month, kind }: Omit<Charge, "request">): Map<string, Charged> {
    const name = `${account} ${month} ${kind}`;
    const known = this.#charged.get(name) ?? new Map<string, Charged>();
    this.#charged.set(name, known);
    return known;
  }

  #judge(charge: Charge, points: number, allowance: number, nowMs: number): ReserveResult {
    this.#mustBeOpen();
    const known = this.#chargedOf(charge);
    const same = known.get(charge.request);
    if (same !== undefined && counts(same, nowMs)) return { outcome: "repeat", points: same.points };
    const granted = Math.min(points, allowance - usedOf(known, nowMs));
    return granted < 1 ? { outcome: "exhausted" } : { outcome: "reserved", points: granted };
  }

  #grant(
    charge: Charge,
    points: number,
    allowance: number,
    nowMs: number,
    reservedAt: Charged["reservedAt"],
  ): ReserveResult {
    const result = this.#judge(charge, points, allowance, nowMs);
    if (result.outcome === "reserved") {
      this.#chargedOf(charge).set(charge.request, { charge, points: result.points, reservedAt });
    }
    return result;
  }
}

function counts({ reservedAt }: Charged, nowMs: number): boolean {
  return reservedAt === null || nowMs - reservedAt < RESERVATION_MS;
}

function usedOf(charged: ReadonlyMap<string, Charged>, nowMs: number): number {
  let points = 0;
  for (const each of charged.values()) if (counts(each, nowMs)) points += each.points;
  return points;
}

function copy(account: Account | undefined): Account | null {
  return account === undefined ? null : { ...account };
}
