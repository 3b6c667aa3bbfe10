import type { Filled } from "@outrigger/core/stores";
import type { HostBudget } from "./prober-options.ts";

/** Throttles probes: limits concurrent sessions and questions per minute for each host address. */
export interface HostBudgets {
  /**
   * Waits for a turn, first come, first served.
   * @param questions Maximum number of questions of the session.
   * @returns the turn; or the time to wait before a retry, if the wait would be too long or `signal` aborted.
   */
  take(address: string, questions: number, signal: AbortSignal): Promise<Turn | { retryAfterMs: number }>;
}

export interface Turn {
  /** Refunds questions that were not asked. */
  refund(questions: number): void;
  /** Ends the turn, so that the next one can start. */
  end(): void;
}

interface Waiter {
  questions: number;
  start(allowedAtMs: number): void;
}

interface Host {
  sessions: number;
  /** Times at which the questions of the last minute were admitted, oldest first. */
  askedAt: number[];
  waiters: Waiter[];
  timer: NodeJS.Timeout | undefined;
}

const MINUTE_MS = 60_000;
/** Beyond this number of hosts, idle ones are removed. */
const MAX_IDLE_HOSTS = 1000;

export function createHostBudgets(
  { sessions, questionsPerMinute, maxWaitMs }: Filled<HostBudget>,
  now: () => number,
): HostBudgets {
  const hosts = new Map<string, Host>();

  function hostOf(address: string): Host {
    let host = hosts.get(address);
    if (host === undefined) {
      if (hosts.size >= MAX_IDLE_HOSTS) forgetIdle();
      host = { sessions: 0, askedAt: [], waiters: [], timer: undefined };
      hosts.set(address, host);
    }
    return host;
  }

  function forgetIdle(): void {
    for (const [address, host] of hosts) {
      if (host.sessions === 0 && host.waiters.length === 0 && waitFor(host, questionsPerMinute) === 0) {
        hosts.delete(address);
      }
    }
  }

  /** Time until `questions` more may be asked, in milliseconds. */
  function waitFor(host: Host, questions: number): number {
    const nowMs = now();
    const old = host.askedAt.findIndex((askedAt) => askedAt > nowMs - MINUTE_MS);
    if (old !== 0) host.askedAt.splice(0, old === -1 ? host.askedAt.length : old);
    const excess = host.askedAt.length + questions - questionsPerMinute;
    const last = host.askedAt[excess - 1];
    return last === undefined ? 0 : last + MINUTE_MS - nowMs;
  }

  /** Starts as many turns as the budget allows and schedules the next attempt. */
  function serve(host: Host): void {
    clearTimeout(host.timer);
    for (;;) {
      const [next] = host.waiters;
      if (next === undefined || host.sessions >= sessions) return;
      const waitMs = waitFor(host, next.questions);
      if (waitMs > 0) {
        host.timer = setTimeout(serve, Math.min(waitMs, maxWaitMs) + 1, host);
        return;
      }
      host.waiters.shift();
      host.sessions += 1;
      const nowMs = now();
      for (let count = 0; count < next.questions; count++) host.askedAt.push(nowMs);
      next.start(nowMs);
    }
  }

  function turnOf(host: Host, allowedAtMs: number): Turn {
    let hasEnded = false;
    return {
      refund(questions) {
        for (let count = 0; count < questions; count++) {
          const index = host.askedAt.lastIndexOf(allowedAtMs);
          if (index !== -1) host.askedAt.splice(index, 1);
        }
      },
      end() {
        if (hasEnded) return;
        hasEnded = true;
        host.sessions -= 1;
        serve(host);
      },
    };
  }

  return {
    async take(address, questions, signal) {
      const host = hostOf(address);
      const ahead = host.waiters.reduce((sum, waiter) => sum + waiter.questions, questions);
      const waitMs = waitFor(host, Math.min(ahead, questionsPerMinute));
      // If the wait would be too long, return at once.
      if (waitMs > maxWaitMs) return { retryAfterMs: waitMs };
      return await new Promise((resolve) => {
        const waiter: Waiter = {
          questions,
          start(allowedAtMs) {
            leave();
            resolve(turnOf(host, allowedAtMs));
          },
        };
        const giveUp = () => {
          leave();
          host.waiters.splice(host.waiters.indexOf(waiter), 1);
          resolve({ retryAfterMs: Math.max(1000, waitFor(host, questions)) });
          serve(host);
        };
        const timer = setTimeout(giveUp, maxWaitMs);
        const leave = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", giveUp);
        };
        signal.addEventListener("abort", giveUp);
        host.waiters.push(waiter);
        if (signal.aborted) giveUp();
        else serve(host);
      });
    },
  };
}
