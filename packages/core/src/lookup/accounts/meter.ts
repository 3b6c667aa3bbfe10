import { createHash } from "node:crypto";
import type { Account, Accounts, Charge, QuotaKind } from "../../contracts/accounts.ts";
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
}

const DAY_MS = 86_400_000;

export function createMeter(accounts: Accounts, settings: LookupSettings): Meter {
  const { now } = settings;

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
      };
    },
    async isUsedUp(account, kind) {
      const allowance = account === null ? null : settings.allowanceOf(account)[kind];
      if (account === null || allowance === null) return false;
      const nowMs = settings.now();
      // At that time every reservation of today has lapsed.
      const settled = await accounts.usage(account.id, monthOf(nowMs), nowMs + DAY_MS);
      return settled[kind] >= allowance;
    },
  };
}

/** The reservation of a look-up that is not counted. */
const FREE: Reservation = {
  points: Number.MAX_SAFE_INTEGER,
  isRepeat: true,
  settle: async () => undefined,
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
