import { hash } from "node:crypto";
import {
  type Account,
  type Accounts,
  type Charge,
  type QuotaKind,
  RESERVATION_MS,
  type ReserveResult,
} from "../../contracts/accounts.ts";
import { LookupProblem } from "../lookup-problem.ts";
import type { LookupSettings } from "../lookup-settings.ts";

/** Points of an account's allowance, held for one request until it is settled. */
export interface Reservation {
  /** The maximum cost of the answer, at least 1. */
  points: number;
  /** Whether the same request was made earlier in the month. The earlier reservation is then settled. */
  isRepeat: boolean;
  /** Sets the final cost; 0 removes the request. A settled request stays unchanged. */
  settle(points: number): Promise<void>;
  /**
   * Renews the reservation until `cost` is known, then settles it. A `cost` that rejects removes the request.
   * Rejects like `cost`, and if settling fails.
   */
  settleWith(cost: Promise<number>): Promise<void>;
}

/** What one request may cost. Nothing is reserved until {@link Quote.hold}. */
export interface Quote {
  /** The maximum cost of the answer, at least 1. */
  points: number;
  /** Whether the same request was made earlier in the month. It costs nothing. */
  isRepeat: boolean;
  /**
   * Reserves the points: for work that waits for others, after which they may be used up. Rejects with
   * `too_many_requests` if they are used up now.
   */
  hold(): Promise<void>;
  /**
   * Charges the cost, 0 for a request that failed. Nothing is written for a cost of 0 without {@link Quote.hold}.
   * Rejects with `too_many_requests` if no points are left.
   * @returns the points that were charged, now or earlier: fewer than `cost` if other requests used the others.
   */
  charge(cost: number): Promise<number>;
}

/** Counts the points that accounts use. Calls without an account (`null`) are not counted. */
export interface Meter {
  /**
   * Reserves at most `points`, or as many as are left; rejects with `too_many_requests` if none are left.
   * @param request identifies the request: repeating it in the same month costs nothing.
   */
  reserve(
    account: Account | null,
    kind: QuotaKind,
    request: readonly unknown[],
    points: number,
  ): Promise<Reservation>;
  /** Like {@link Meter.reserve}, for work that usually waits for nothing: see {@link Quote}. */
  quote(
    account: Account | null,
    kind: QuotaKind,
    request: readonly unknown[],
    points: number,
  ): Promise<Quote>;
  /** Whether no points are left even if every reservation costs nothing. */
  isUsedUp(account: Account | null, kind: QuotaKind): Promise<boolean>;
  /** Waits until all reservations whose cost becomes known later are settled. */
  close(): Promise<void>;
}

/** A reservation outlasts two failed renewals. */
const RENEWAL_MS = RESERVATION_MS / 4;

export function createMeter(accounts: Accounts, settings: LookupSettings): Meter {
  const { now, onError } = settings;
  const direct = directChargesOf(accounts);
  /** The reservations whose cost becomes known later. */
  const held = new Map<Charge, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  async function hold(charge: Charge, cost: Promise<number>): Promise<void> {
    const settled = settleWhenKnown(charge, cost);
    held.set(charge, settled);
    timer ??= setInterval(() => accounts.renew([...held.keys()], now()).catch(onError), RENEWAL_MS).unref();
    try {
      await settled;
    } finally {
      held.delete(charge);
      if (held.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    }
  }

  async function settleWhenKnown(charge: Charge, cost: Promise<number>): Promise<void> {
    let points = 0;
    try {
      points = await cost;
    } finally {
      await accounts.settle(charge, points);
    }
  }

  /** `null` for a request that is not counted. */
  function termsOf(account: Account | null, kind: QuotaKind, request: readonly unknown[]): Terms | null {
    const allowance = account === null ? null : settings.allowanceOf(account)[kind];
    if (account === null || allowance === null) return null;
    const nowMs = now();
    const charge = { account: account.id, kind, month: monthOf(nowMs), request: digestOf(request) };
    return { charge, allowance, nowMs };
  }

  async function reserve(terms: Terms, points: number): Promise<Reservation> {
    const { charge, allowance, nowMs } = terms;
    return {
      ...granted(terms, await accounts.reserve(charge, points, allowance, nowMs)),
      settle: (cost) => accounts.settle(charge, cost),
      settleWith: (cost) => hold(charge, cost),
    };
  }

  return {
    async reserve(account, kind, request, points) {
      const terms = termsOf(account, kind, request);
      return terms === null ? FREE : reserve(terms, points);
    },
    async quote(account, kind, request, points) {
      const terms = termsOf(account, kind, request);
      if (terms === null) return FREE_QUOTE;
      if (direct === null) return quoteOf(await reserve(terms, points));
      const { charge, allowance, nowMs } = terms;
      const { points: most, isRepeat } = granted(
        terms,
        await direct.preview(charge, points, allowance, nowMs),
      );
      let held: Quote | null = null;
      return {
        points: most,
        isRepeat,
        async hold() {
          if (!isRepeat) held ??= quoteOf(await reserve(terms, points));
        },
        async charge(cost) {
          if (isRepeat) return most;
          if (held !== null) return held.charge(cost);
          if (cost === 0) return 0;
          return granted(terms, await direct.charge(charge, cost, allowance, nowMs)).points;
        },
      };
    },
    async isUsedUp(account, kind) {
      const allowance = account === null ? null : settings.allowanceOf(account)[kind];
      if (account === null || allowance === null) return false;
      const nowMs = now();
      // At that time every reservation has lapsed.
      const settled = await accounts.usage(account.id, monthOf(nowMs), nowMs + 2 * RESERVATION_MS);
      return settled[kind] >= allowance;
    },
    async close() {
      await Promise.allSettled(held.values());
    },
  };
}

/** A request with what it costs the account. */
interface Terms {
  charge: Charge;
  allowance: number;
  nowMs: number;
}

type DirectCharges = Required<Pick<Accounts, "preview" | "charge">>;

/** `null` for accounts that can only reserve and settle. */
function directChargesOf(accounts: Accounts): DirectCharges | null {
  return accounts.preview === undefined || accounts.charge === undefined
    ? null
    : (accounts as Accounts & DirectCharges);
}

/** The points of a result. Rejects with `too_many_requests` if none are left. */
function granted({ charge, nowMs }: Terms, result: ReserveResult): Pick<Quote, "points" | "isRepeat"> {
  if (result.outcome === "exhausted") throw exhausted(charge.kind, nowMs);
  return { points: result.points, isRepeat: result.outcome === "repeat" };
}

/** A quote whose points are reserved. */
function quoteOf({ points, isRepeat, settle }: Reservation): Quote {
  return {
    points,
    isRepeat,
    hold: async () => undefined,
    async charge(cost) {
      if (isRepeat) return points;
      await settle(cost);
      return cost;
    },
  };
}

/** The reservation of a look-up that is not counted. */
const FREE: Reservation = {
  points: Number.MAX_SAFE_INTEGER,
  isRepeat: true,
  settle: async () => undefined,
  settleWith: async (cost) => {
    await cost;
  },
};

const FREE_QUOTE = quoteOf(FREE);

function digestOf(request: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(request), "base64url");
}

function exhausted(kind: QuotaKind, nowMs: number): LookupProblem {
  return new LookupProblem("too_many_requests", `This month's allowance of ${kind} is used up`, {
    retryAfterMs: nextMonthMs(nowMs) - nowMs,
  });
}

/** The calendar month of a time, `YYYY-MM`, UTC. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** When the next month begins, in Unix milliseconds. */
export function nextMonthMs(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}
