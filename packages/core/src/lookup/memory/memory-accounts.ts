import {
  type Account,
  type AccountKey,
  type Accounts,
  type Charge,
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
  const accounts = new Map<string, Account>();
  const keysByHash = new Map<string, { account: string; key: AccountKey }>();
  /** By account, month and kind, then by request. */
  const charged = new Map<string, Map<string, Charged>>();
  let isClosed = false;

  function mustBeOpen(): void {
    if (isClosed) throw new ServiceError("store_unavailable", "The accounts are closed");
  }

  function chargedOf({ account, month, kind }: Omit<Charge, "request">): Map<string, Charged> {
    const name = `${account} ${month} ${kind}`;
    const known = charged.get(name) ?? new Map<string, Charged>();
    charged.set(name, known);
    return known;
  }

  function put(charged: Charged): void {
    chargedOf(charged.charge).set(charged.charge.request, charged);
  }

  function preview(charge: Charge, points: number, allowance: number, nowMs: number): ReserveResult {
    mustBeOpen();
    const known = chargedOf(charge);
    const same = known.get(charge.request);
    if (same !== undefined && counts(same, nowMs)) return { outcome: "repeat", points: same.points };
    const granted = Math.min(points, allowance - usedOf(known, nowMs));
    return granted < 1 ? { outcome: "exhausted" } : { outcome: "reserved", points: granted };
  }

  return {
    async create(account) {
      mustBeOpen();
      if (accounts.has(account.id)) return false;
      accounts.set(account.id, { ...account });
      return true;
    },
    async get(id) {
      mustBeOpen();
      return copy(accounts.get(id));
    },
    async list({ limit, after }) {
      mustBeOpen();
      const ids = [...accounts.keys()];
      if (after !== undefined && !accounts.has(after)) return [];
      const start = after === undefined ? 0 : ids.indexOf(after) + 1;
      return [...accounts.values()].slice(start, start + limit).map((account) => ({ ...account }));
    },
    async addKey(account, keyHash, key) {
      mustBeOpen();
      if (keysByHash.has(keyHash)) throw new ServiceError("conflict", "This key already exists");
      keysByHash.set(keyHash, { account, key: { ...key } });
    },
    async findByKey(keyHash) {
      mustBeOpen();
      const known = keysByHash.get(keyHash);
      return known === undefined || known.key.revokedAt !== null ? null : copy(accounts.get(known.account));
    },
    async keys(account) {
      mustBeOpen();
      return [...keysByHash.values()]
        .filter((known) => known.account === account)
        .map(({ key }) => ({ ...key }));
    },
    async revokeKeys(account, hint, atMs) {
      mustBeOpen();
      const revoked = [...keysByHash.values()].filter(
        (known) =>
          known.account === account && known.key.revokedAt === null && known.key.hint.startsWith(hint),
      );
      for (const { key } of revoked) key.revokedAt = atMs;
      return revoked.length;
    },
    async reserve(charge, points, allowance, nowMs) {
      const result = preview(charge, points, allowance, nowMs);
      if (result.outcome === "reserved") put({ charge, points: result.points, reservedAt: nowMs });
      return result;
    },
    preview: async (charge, points, allowance, nowMs) => preview(charge, points, allowance, nowMs),
    async charge(charge, points, allowance, nowMs) {
      const result = preview(charge, points, allowance, nowMs);
      if (result.outcome === "reserved") put({ charge, points: result.points, reservedAt: null });
      return result;
    },
    async renew(charges, nowMs) {
      mustBeOpen();
      for (const charge of charges) {
        const reserved = chargedOf(charge).get(charge.request);
        if (reserved !== undefined && reserved.reservedAt !== null && counts(reserved, nowMs)) {
          reserved.reservedAt = nowMs;
        }
      }
    },
    async settle(charge, points) {
      mustBeOpen();
      const known = chargedOf(charge);
      const reserved = known.get(charge.request);
      if (reserved === undefined || reserved.reservedAt === null) return;
      if (points === 0) known.delete(charge.request);
      else put({ charge, points, reservedAt: null });
    },
    async usage(account, month, nowMs) {
      mustBeOpen();
      return {
        searches: usedOf(chargedOf({ account, month, kind: "searches" }), nowMs),
        verifications: usedOf(chargedOf({ account, month, kind: "verifications" }), nowMs),
      };
    },
    async close() {
      isClosed = true;
    },
  };
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
