import { createHash } from "node:crypto";
import type { Account, Accounts, Charge, QuotaKind } from "../../contracts/accounts.ts";
import { LookupProblem } from "../http/lookup-problem.ts";
import type { LookupSettings } from "../lookup-settings.ts";
import { monthOf, nextMonthMs } from "./months.ts";

/** Room in an account's allowance for one request, until it is settled. */
export interface Reservation {
  /** Points that the answer may cost, at least 1. */
  points: number;
  /** What it did cost; 0 as if the request had never been. Of a repeated request, nothing is changed. */
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
      if (account === null || allowance === null) return { points, settle: async () => undefined };
      const nowMs = now();
      const charge: Charge = { account: account.id, kind, month: monthOf(nowMs), request: digestOf(request) };
      const result = await accounts.reserve(charge, points, allowance, nowMs);
      switch (result.outcome) {
        case "exhausted":
          throw exhausted(kind, nowMs);
        case "repeat":
          return { points: result.points, settle: async () => undefined };
        case "reserved":
          return { points: result.points, settle: (cost) => accounts.settle(charge, cost) };
      }
    },
  };
}

function digestOf(request: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(request)).digest("base64url");
}

function exhausted(kind: QuotaKind, nowMs: number): LookupProblem {
  const seconds = Math.ceil((nextMonthMs(nowMs) - nowMs) / 1000);
  return new LookupProblem("too_many_requests", `All ${kind} of this month are used up`, {
    "Retry-After": String(seconds),
  });
}
