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

/** What one request may cost. */
export interface Quote {
  /** The maximum cost of the answer, at least 1. */
  points: number;
  /** Whether the same request was made earlier in the month. It costs nothing. */
  isRepeat: boolean;
  /**
   * Reserves the points until they are charged: for work that waits for others, after which they may be used up. Rejects with
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

/** A reservation outlasts two failed renewals. */
const RENEWAL_MS = RESERVATION_MS / 4;

/** Counts the points that accounts use. Calls without an account (`null`) are not counted. */
export class Meter {
  readonly #accounts: Accounts;
  readonly #settings: LookupSettings;
  /** The reservations, each with what resolves when it is charged. */
  readonly #held = new Map<Charge, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(accounts: Accounts, settings: LookupSettings) {
    this.#accounts = accounts;
    this.#settings = settings;
  }

  /**
   * At most `points`, or as many as are left; rejects with `too_many_requests` if none are left. Nothing is reserved.
   * @param request identifies the request: repeating it in the same month costs nothing.
   */
  async quote(
    account: Account | null,
    kind: QuotaKind,
    request: readonly unknown[],
    points: number,
  ): Promise<Quote> {
    const terms = this.#termsOf(account, kind, request);
    if (terms === null) return FREE;
    const { charge, allowance, nowMs } = terms;
    const preview = granted(terms, await this.#accounts.preview(charge, points, allowance, nowMs));
    if (preview.isRepeat) return repeatOf(preview.points);
    let held: Quote | null = null;
    return {
      ...preview,
      hold: async () => {
        held ??= await this.#reserve(terms, points);
      },
      charge: async (cost) => {
        if (held !== null) return held.charge(cost);
        if (cost === 0) return 0;
        return granted(terms, await this.#accounts.charge(charge, cost, allowance, nowMs)).points;
      },
    };
  }

  /** Like {@link Meter.quote} and {@link Quote.hold} in one step, for work that usually waits. */
  async reserve(
    account: Account | null,
    kind: QuotaKind,
    request: readonly unknown[],
    points: number,
  ): Promise<Quote> {
    const terms = this.#termsOf(account, kind, request);
    return terms === null ? FREE : this.#reserve(terms, points);
  }

  /** Waits until all reserved points are charged. */
  async close(): Promise<void> {
    await Promise.all(this.#held.values());
  }

  /** `null` for a request that is not counted. */
  #termsOf(account: Account | null, kind: QuotaKind, request: readonly unknown[]): Terms | null {
    const allowance = account === null ? null : this.#settings.allowanceOf(account)[kind];
    if (account === null || allowance === null) return null;
    const nowMs = this.#settings.now();
    const charge = { account: account.id, kind, month: monthOf(nowMs), request: digestOf(request) };
    return { charge, allowance, nowMs };
  }

  /** Reserves the points, and renews the reservation until they are charged. */
  async #reserve(terms: Terms, points: number): Promise<Quote> {
    const { charge, allowance, nowMs } = terms;
    const reserved = granted(terms, await this.#accounts.reserve(charge, points, allowance, nowMs));
    let end = () => {};
    this.#held.set(charge, new Promise((resolve) => (end = resolve)));
    this.#timer ??= setInterval(() => this.#renew(), RENEWAL_MS).unref();
    return {
      ...reserved,
      hold: async () => undefined,
      charge: async (cost) => {
        try {
          await this.#accounts.settle(charge, cost);
          return cost;
        } finally {
          end();
          this.#held.delete(charge);
          if (this.#held.size === 0) {
            clearInterval(this.#timer);
            this.#timer = undefined;
          }
        }
      },
    };
  }

  #renew(): void {
    const { now, onError } = this.#settings;
    this.#accounts.renew([...this.#held.keys()], now()).catch(onError);
  }
}

/** A request with what it costs the account. */
interface Terms {
  charge: Charge;
  allowance: number;
  nowMs: number;
}

/** The points of a result. Rejects with `too_many_requests` if none are left. */
function granted({ charge, nowMs }: Terms, result: ReserveResult): Pick<Quote, "points" | "isRepeat"> {
  if (result.outcome !== "exhausted") {
    return { points: result.points, isRepeat: result.outcome === "repeat" };
  }
  throw new LookupProblem("too_many_requests", `This month's allowance of ${charge.kind} is used up`, {
    retryAfterMs: nextMonthMs(nowMs) - nowMs,
  });
}

/** The quote of a request that was charged before. */
function repeatOf(points: number): Quote {
  return { points, isRepeat: true, hold: async () => undefined, charge: async () => points };
}

/** The quote of a look-up that is not counted. */
const FREE = repeatOf(Number.MAX_SAFE_INTEGER);

function digestOf(request: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(request), "base64url");
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
