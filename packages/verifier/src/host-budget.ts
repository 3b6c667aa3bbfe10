import type { Filled } from "@outrigger/core/stores";
import type { HostBudget } from "./prober-options.ts";

/**
 * Throttles probes: limits concurrent sessions and questions per minute for each host address. Probes beyond the
 * limits wait in line.
 */
export interface HostBudgets {
  /**
   * Waits for a turn. The line serves accounts alternately, and the probes of one account in order.
   * @returns the turn; or the time to wait before a retry, if the line is too long or `signal` aborted.
   */
  take(address: string, request: TurnRequest): Promise<Turn | { retryAfterMs: number }>;
}

export interface TurnRequest {
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

export interface Turn {
  /** Number of questions that the probe may ask. */
  questions: number;
  /** Refunds questions that were not asked. */
  refund(questions: number): void;
  /** Ends the turn, so that the next one can start. */
  end(): void;
}

interface Waiter {
  account: string;
  questions(): number;
  start(turn: Turn): void;
}

interface Host {
  sessions: number;
  /** Average duration of its sessions, in milliseconds; 0 before the first one ended. */
  sessionMs: number;
  /** Times at which the questions of the last minute were admitted, oldest first. */
  askedAt: number[];
  /** The waiters of each account; the next account is first. */
  line: Map<string, Waiter[]>;
  timer: NodeJS.Timeout | undefined;
}

const MINUTE_MS = 60_000;
/** Beyond this number of hosts, idle ones are removed. */
const MAX_IDLE_HOSTS = 1000;
/** Maximum length of the line before one host. */
const MAX_WAITING = 1000;
/** Weight of the last session in the average duration. */
const LAST_WEIGHT = 0.25;

export function createHostBudgets(
  { sessions, questionsPerMinute, maxWaitMs }: Filled<HostBudget>,
  now: () => number,
): HostBudgets {
  const hosts = new Map<string, Host>();

  function hostOf(address: string): Host {
    let host = hosts.get(address);
    if (host === undefined) {
      if (hosts.size >= MAX_IDLE_HOSTS) forgetIdle();
      host = { sessions: 0, sessionMs: 0, askedAt: [], line: new Map(), timer: undefined };
      hosts.set(address, host);
    }
    return host;
  }

  function forgetIdle(): void {
    for (const [address, host] of hosts) {
      if (host.sessions === 0 && host.line.size === 0 && waitFor(host, questionsPerMinute) === 0) {
        hosts.delete(address);
      }
    }
  }

  /** Time until the last of `questions` more may be asked, in milliseconds. */
  function waitFor(host: Host, questions: number): number {
    const nowMs = now();
    const old = host.askedAt.findIndex((askedAt) => askedAt > nowMs - MINUTE_MS);
    if (old !== 0) host.askedAt.splice(0, old === -1 ? host.askedAt.length : old);
    // Each question is a minute after the one that is `questionsPerMinute` before it.
    const minutes = Math.max(0, Math.ceil(questions / questionsPerMinute) - 1);
    const excess = host.askedAt.length + questions - minutes * questionsPerMinute - questionsPerMinute;
    const last = host.askedAt[excess - 1];
    return minutes * MINUTE_MS + (last === undefined ? 0 : last + MINUTE_MS - nowMs);
  }

  /** Estimated wait of a waiter in line, in milliseconds. */
  function estimate(host: Host, waiter: Waiter): number {
    const accounts = [...host.line.keys()];
    const own = accounts.indexOf(waiter.account);
    const position = host.line.get(waiter.account)?.indexOf(waiter) ?? 0;
    let questions = waiter.questions();
    let ahead = 0;
    for (const [index, account] of accounts.entries()) {
      // Before the own turn, each account has one for each of the own ones, and the earlier accounts one more.
      const turns = position + (index < own ? 1 : 0);
      for (const other of host.line.get(account)?.slice(0, turns) ?? []) {
        questions += other.questions();
        ahead += 1;
      }
    }
    const rounds = Math.max(0, Math.ceil((host.sessions + ahead + 1 - sessions) / sessions));
    return Math.max(waitFor(host, questions), rounds * host.sessionMs);
  }

  function leave(host: Host, waiter: Waiter): void {
    const waiters = host.line.get(waiter.account) ?? [];
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) host.line.delete(waiter.account);
  }

  /** Starts as many turns as the budget allows and schedules the next attempt. */
  function serve(host: Host): void {
    clearTimeout(host.timer);
    for (const waiter of [...host.line.values()].flat()) {
      if (waiter.questions() > 0) continue;
      leave(host, waiter);
      waiter.start({ questions: 0, refund: () => undefined, end: () => undefined });
    }
    for (;;) {
      const [[account, waiters] = ["", []]] = host.line;
      const [waiter] = waiters;
      if (waiter === undefined || host.sessions >= sessions) return;
      const waitMs = waitFor(host, waiter.questions());
      if (waitMs > 0) {
        host.timer = setTimeout(serve, Math.min(waitMs, MINUTE_MS) + 1, host);
        return;
      }
      leave(host, waiter);
      // The account goes to the end of the line.
      if (host.line.delete(account)) host.line.set(account, waiters);
      waiter.start(begin(host, waiter.questions()));
    }
  }

  function begin(host: Host, questions: number): Turn {
    const allowedAtMs = now();
    const begunMs = performance.now();
    let hasEnded = false;
    host.sessions += 1;
    for (let count = 0; count < questions; count++) host.askedAt.push(allowedAtMs);
    return {
      questions,
      refund(unasked) {
        for (let count = 0; count < unasked; count++) {
          const index = host.askedAt.lastIndexOf(allowedAtMs);
          if (index !== -1) host.askedAt.splice(index, 1);
        }
      },
      end() {
        if (hasEnded) return;
        hasEnded = true;
        host.sessions -= 1;
        const tookMs = performance.now() - begunMs;
        host.sessionMs += (tookMs - host.sessionMs) * (host.sessionMs === 0 ? 1 : LAST_WEIGHT);
        serve(host);
      },
    };
  }

  return {
    async take(address, { questions, account, signal, onWait }) {
      const host = hostOf(address);
      return await new Promise((resolve) => {
        let state: "new" | "waiting" | "ended" = "new";
        const end = (result: Turn | { retryAfterMs: number }) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", giveUp);
          if (state === "waiting") onWait(null);
          state = "ended";
          resolve(result);
        };
        const waiter: Waiter = { account, questions, start: end };
        const giveUp = () => {
          const retryAfterMs = Math.ceil(Math.max(1000, estimate(host, waiter)));
          leave(host, waiter);
          end({ retryAfterMs });
          serve(host);
        };
        const timer = setTimeout(giveUp, maxWaitMs);
        signal.addEventListener("abort", giveUp);
        const length = [...host.line.values()].reduce((sum, waiters) => sum + waiters.length, 0);
        const waiters = host.line.get(account) ?? [];
        waiters.push(waiter);
        host.line.set(account, waiters);
        // A line that is too long ends the wait before it begins.
        if (signal.aborted || length >= MAX_WAITING || estimate(host, waiter) > maxWaitMs) giveUp();
        else serve(host);
        // `serve` may have ended the wait.
        if ((state as string) === "ended") return;
        state = "waiting";
        onWait(() => estimate(host, waiter));
      });
    },
  };
}
