import { createHash } from "node:crypto";
import type { Account, Accounts, Charge, QuotaKind } from "../../contracts/accounts.ts";
import { LookupProblem } from "../http/lookup-problem.ts";
import type { LookupSettings } from "../lookup-settings.ts";

/** Room in an account's allowance for one request, until it is settled. */
export interface Reservation {
  /** Points that the answer may cost, at least 1. */
  points: number;
  /** Whether the same request was made before in the month, and is settled by whoever made it. */
  isRepeat: boolean;
  /** What it did cost; 0 as if the request had never been. What was settled stays as it was. */
  settle(points: number): Promise<void>;
}

/** Counts what accounts use up. `null` is an account without limits: the test key's, or one that the host vouches for. */
export interface Meter {
  /**
   * Room for at most `points`, or for as many as are left; rejects with `too_many_requests` when none are.
   * @param request what makes a request the same as another: the same again in the month costs nothing.
   */
  reserve(
    account: Account | null,
    kind: QuotaKind,
    request: readonly unknown[],
    points: number,
  ): Promise<Reservation>;
}

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
  };
}

/** For who has no limits. */
const FREE: Reservation = {
  points: Number.MAX_SAFE_INTEGER,
  isRepeat: true,
  settle: async () => undefined,
};

function digestOf(request: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(request)).digest("base64url");
}

function exhausted(kind: QuotaKind, nowMs: number): LookupProblem {
  const seconds = Math.ceil((nextMonthMs(nowMs) - nowMs) / 1000);
  return new LookupProblem("too_many_requests", `All ${kind} of this month are used up`, {
    "Retry-After": String(seconds),
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
