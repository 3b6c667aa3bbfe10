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
  return new AccountMeter(accounts, settings);
}

class AccountMeter implements Meter {
  readonly #accounts: Accounts;
  readonly #settings: LookupSettings;
  readonly #direct: DirectCharges | null;
  /** The reservations whose cost becomes known later. */
  readonly #held = new Map<Charge, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(accounts: Accounts, settings: LookupSettings) {
    this.#accounts = accounts;
    this.#settings = settings;
    this.#direct = directChargesOf(accounts);
  }

  async reserve(
    account: Account | null,
    kind: QuotaKind,
    request: readonly unknown[],
    points: number,
  ): Promise<Reservation> {
    const terms = this.#termsOf(account, kind, request);
    return terms === null ? FREE : this.#reserve(terms, points);
  }

  async quote(
    account: Account | null,
    kind: QuotaKind,
    request: readonly unknown[],
    points: number,
  ): Promise<Quote> {
    const terms = this.#termsOf(account, kind, request);
    if (terms === null) return FREE_QUOTE;
    const direct = this.#direct;
    if (direct === null) return quoteOf(await this.#reserve(terms, points));
    const { charge, allowance, nowMs } = terms;
    const preview = await direct.preview(charge, points, allowance, nowMs);
    const { points: most, isRepeat } = granted(terms, preview);
    let held: Quote | null = null;
    return {
      points: most,
      isRepeat,
      hold: async () => {
        if (!isRepeat) held ??= quoteOf(await this.#reserve(terms, points));
      },
      async charge(cost) {
        if (isRepeat) return most;
        if (held !== null) return held.charge(cost);
        if (cost === 0) return 0;
        return granted(terms, await direct.charge(charge, cost, allowance, nowMs)).points;
      },
    };
  }

  async isUsedUp(account: Account | null, kind: QuotaKind): Promise<boolean> {
    const allowance = account === null ? null : this.#settings.allowanceOf(account)[kind];
    if (account === null || allowance === null) return false;
    const nowMs = this.#settings.now();
    // At that time every reservation has lapsed.
    const settled = await this.#accounts.usage(account.id, monthOf(nowMs), nowMs + 2 * RESERVATION_MS);
    return settled[kind] >= allowance;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#held.values());
  }

  /** `null` for a request that is not counted. */
  #termsOf(account: Account | null, kind: QuotaKind, request: readonly unknown[]): Terms | null {
    const allowance = account === null ? null : this.#settings.allowanceOf(account)[kind];
    if (account === null || allowance === null) return null;
    const nowMs = this.#settings.now();
    const charge = { account: account.id, kind, month: monthOf(nowMs), request: digestOf(request) };
    return { charge, allowance, nowMs };
  }

  async #reserve(terms: Terms, points: number): Promise<Reservation> {
    const { charge, allowance, nowMs } = terms;
    return {
      ...granted(terms, await this.#accounts.reserve(charge, points, allowance, nowMs)),
      settle: (cost) => this.#accounts.settle(charge, cost),
      settleWith: (cost) => this.#hold(charge, cost),
    };
  }

  /** Renews the reservation until its cost is known and settled. */
  async #hold(charge: Charge, cost: Promise<number>): Promise<void> {
    const settled = this.#settleWhenKnown(charge, cost);
    this.#held.set(charge, settled);
    this.#timer ??= setInterval(() => this.#renew(), RENEWAL_MS).unref();
    try {
      await settled;
    } finally {
      this.#held.delete(charge);
      if (this.#held.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #renew(): void {
    const { now, onError } = this.#settings;
    this.#accounts.renew([...this.#held.keys()], now()).catch(onError);
  }

  async #settleWhenKnown(charge: Charge, cost: Promise<number>): Promise<void> {
    let points = 0;
    try {
      points = await cost;
    } finally {
      await this.#accounts.settle(charge, points);
    }
  }
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
