import type { HostBudget } from "./prober-options.ts";

export interface SessionRequest {
  /**
   * Maximum number of questions of the session, which may become less while the probe waits. 0: the probe no
   * longer needs the host.
   */
  questions(): number;
  account: string;
  signal: AbortSignal;
  /** Called with an estimate of the remaining time, in milliseconds, if the probe has to wait; `null`: it no longer waits. */
  onWait(waitMs: (() => number) | null): void;
}

/** Permission for one session with a host. */
export interface Session {
  /** Number of questions that the probe may ask. */
  questions: number;
  /** Refunds questions that were not asked. */
  refund(questions: number): void;
  /** Ends the session, so that the next one can start. */
  end(): void;
}

interface Waiter {
  account: string;
  questions(): number;
  start(session: Session): void;
}

const MINUTE_MS = 60_000;
/** Beyond this number of hosts, idle ones are removed. */
const MAX_IDLE_HOSTS = 1000;
/** Maximum number of probes that wait for one host. */
const MAX_WAITING = 1000;
/** Weight of the last session in the average duration. */
const LAST_WEIGHT = 0.25;

/**
 * Throttles probes: limits concurrent sessions and questions per minute for each host address. Probes beyond the
 * limits wait.
 */
export class HostBudgets {
  readonly #budget: HostBudget;
  readonly #now: () => number;
  readonly #hosts = new Map<string, HostQueue>();

  constructor(budget: HostBudget, now: () => number) {
    this.#budget = budget;
    this.#now = now;
  }

  /**
   * Waits for a session. Accounts are served alternately, and the probes of one account in order.
   * @returns the session; or the time to wait before a retry, if too many probes wait or `signal` aborted.
   */
  take(address: string, request: SessionRequest): Promise<Session | { retryAfterMs: number }> {
    let host = this.#hosts.get(address);
    if (host === undefined) {
      if (this.#hosts.size >= MAX_IDLE_HOSTS) {
        for (const [known, each] of this.#hosts) if (each.isIdle()) this.#hosts.delete(known);
      }
      host = new HostQueue(this.#budget, this.#now);
      this.#hosts.set(address, host);
    }
    return host.take(request);
  }
}

/** The sessions with one host address, and the probes that wait for it. */
class HostQueue {
  readonly #budget: HostBudget;
  readonly #now: () => number;
  #sessions = 0;
  /** Average duration of its sessions, in milliseconds; 0 before the first one ended. */
  #sessionMs = 0;
  /** Times at which the questions of the last minute were admitted, oldest first. */
  readonly #askedAt: number[] = [];
  /** The waiters of each account; the next account is first. */
  readonly #waiting = new Map<string, Waiter[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(budget: HostBudget, now: () => number) {
    this.#budget = budget;
    this.#now = now;
  }

  isIdle(): boolean {
    const hasWork = this.#sessions > 0 || this.#waiting.size > 0;
    return !hasWork && this.#waitFor(this.#budget.questionsPerMinute) === 0;
  }

  take({ questions, account, signal, onWait }: SessionRequest): Promise<Session | { retryAfterMs: number }> {
    return new Promise((resolve) => {
      let state: "new" | "waiting" | "ended" = "new";
      const end = (result: Session | { retryAfterMs: number }) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        if (state === "waiting") onWait(null);
        state = "ended";
        resolve(result);
      };
      const waiter: Waiter = { account, questions, start: end };
      const giveUp = () => {
        const retryAfterMs = Math.ceil(Math.max(1000, this.#estimate(waiter)));
        this.#leave(waiter);
        end({ retryAfterMs });
        this.#serve();
      };
      const timer = setTimeout(giveUp, this.#budget.maxWaitMs);
      signal.addEventListener("abort", giveUp);
      const length = [...this.#waiting.values()].reduce((sum, waiters) => sum + waiters.length, 0);
      const waiters = this.#waiting.get(account) ?? [];
      waiters.push(waiter);
      this.#waiting.set(account, waiters);
      // A wait that would be too long ends before it begins.
      const isTooLong = length >= MAX_WAITING || this.#estimate(waiter) > this.#budget.maxWaitMs;
      if (signal.aborted || isTooLong) giveUp();
      else this.#serve();
      // It may have started the session.
      if ((state as string) === "ended") return;
      state = "waiting";
      onWait(() => this.#estimate(waiter));
    });
  }

  /** Time until the last of `questions` more may be asked, in milliseconds. */
  #waitFor(questions: number): number {
    const { questionsPerMinute } = this.#budget;
    const nowMs = this.#now();
    const old = this.#askedAt.findIndex((askedAt) => askedAt > nowMs - MINUTE_MS);
    if (old !== 0) this.#askedAt.splice(0, old === -1 ? this.#askedAt.length : old);
    // Each question is a minute after the one that is `questionsPerMinute` before it.
    const minutes = Math.max(0, Math.ceil(questions / questionsPerMinute) - 1);
    const excess = this.#askedAt.length + questions - minutes * questionsPerMinute - questionsPerMinute;
    const last = this.#askedAt[excess - 1];
    return minutes * MINUTE_MS + (last === undefined ? 0 : last + MINUTE_MS - nowMs);
  }

  /** Estimated remaining wait, in milliseconds. */
  #estimate(waiter: Waiter): number {
    const { sessions } = this.#budget;
    const accounts = [...this.#waiting.keys()];
    const own = accounts.indexOf(waiter.account);
    const position = this.#waiting.get(waiter.account)?.indexOf(waiter) ?? 0;
    let questions = waiter.questions();
    let ahead = 0;
    for (const [index, account] of accounts.entries()) {
      // Each account has a session for each earlier one of the own account, and the accounts before it one more.
      const earlier = position + (index < own ? 1 : 0);
      for (const other of this.#waiting.get(account)?.slice(0, earlier) ?? []) {
        questions += other.questions();
        ahead += 1;
      }
    }
    const rounds = Math.max(0, Math.ceil((this.#sessions + ahead + 1 - sessions) / sessions));
    return Math.max(this.#waitFor(questions), rounds * this.#sessionMs);
  }

  #leave(waiter: Waiter): void {
    const waiters = this.#waiting.get(waiter.account) ?? [];
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) this.#waiting.delete(waiter.account);
  }

  /** Starts as many sessions as the budget allows and schedules the next attempt. */
  #serve(): void {
    clearTimeout(this.#timer);
    for (const waiter of [...this.#waiting.values()].flat()) {
      if (waiter.questions() > 0) continue;
      this.#leave(waiter);
      waiter.start({ questions: 0, refund: () => undefined, end: () => undefined });
    }
    for (;;) {
      const [[account, waiters] = ["", []]] = this.#waiting;
      const [waiter] = waiters;
      if (waiter === undefined || this.#sessions >= this.#budget.sessions) return;
      const waitMs = this.#waitFor(waiter.questions());
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#serve(), Math.min(waitMs, MINUTE_MS) + 1);
        return;
      }
      this.#leave(waiter);
      // The account becomes the last.
      if (this.#waiting.delete(account)) this.#waiting.set(account, waiters);
      waiter.start(this.#begin(waiter.questions()));
    }
  }

  #begin(questions: number): Session {
    const allowedAtMs = this.#now();
    const begunMs = performance.now();
    let hasEnded = false;
    this.#sessions += 1;
    for (let count = 0; count < questions; count++) this.#askedAt.push(allowedAtMs);
    return {
      questions,
      refund: (unasked) => {
        for (let count = 0; count < unasked; count++) {
          const index = this.#askedAt.lastIndexOf(allowedAtMs);
          if (index !== -1) this.#askedAt.splice(index, 1);
        }
      },
      end: () => {
        if (hasEnded) return;
        hasEnded = true;
        this.#sessions -= 1;
        const tookMs = performance.now() - begunMs;
        this.#sessionMs += (tookMs - this.#sessionMs) * (this.#sessionMs === 0 ? 1 : LAST_WEIGHT);
        this.#serve();
      },
    };
  }
}
