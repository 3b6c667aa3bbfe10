import { createHash } from "node:crypto";
import {
  type Account,
  type Accounts,
  type Charge,
  type QuotaKind,
  RESERVATION_MS,
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
  /** Whether no points are left even if every reservation costs nothing. */
  isUsedUp(account: Account | null, kind: QuotaKind): Promise<boolean>;
  /** Waits until all reservations whose cost becomes known later are settled. */
  close(): Promise<void>;
}

/** A reservation outlasts two failed renewals. */
const RENEWAL_MS = RESERVATION_MS / 4;

export function createMeter(accounts: Accounts, settings: LookupSettings): Meter {
  const { now, onError } = settings;
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

  return {
    async reserve(account, kind, request, points) {
      const allowance = account === null ? null : settings.allowanceOf(account)[kind];
      if (account === null || allowance === null) return FREE;
      const nowMs = now();
      const charge: Charge = { account: account.id, kind, month: monthOf(nowMs), request: digestOf(request) };
      const result = await accounts.reserve(charge, points, allowance, nowMs);
      if (result.outcome === "exhausted") throw exhausted(kind, nowMs);
      return {
        points: result.points,
        isRepeat: result.outcome === "repeat",
        settle: (cost) => accounts.settle(charge, cost),
        settleWith: (cost) => hold(charge, cost),
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

/** The reservation of a look-up that is not counted. */
const FREE: Reservation = {
  points: Number.MAX_SAFE_INTEGER,
  isRepeat: true,
  settle: async () => undefined,
  settleWith: async (cost) => {
    await cost;
  },
};

function digestOf(request: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(request)).digest("base64url");
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
