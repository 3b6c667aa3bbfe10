import type { RateLimiterMemory } from "rate-limiter-flexible";
import { createInTurn } from "../../async/in-turn.ts";
import { checkOptions, checkValue } from "../../check-options.ts";
import type { RateLimiter, RateResult, RateRule } from "../../contracts/rate-limiter.ts";
import { ServiceError } from "../../errors.ts";
import { preset, type RuleTable, whole } from "../../option-rules.ts";

/** Longest delay of a Node timer; `setTimeout` treats a longer one as 1 ms. */
const MAX_WINDOW_MS = 2 ** 31 - 1;

export interface MemoryRateLimiterOptions {
  /**
   * Maximum number of keys per rule, an integer of at least 1. Beyond that, the windows that began first are
   * dropped.
   * @default 100_000
   */
  maxKeys?: number | undefined;
}

const RULES = { maxKeys: preset(100_000, whole(1)) } satisfies RuleTable<MemoryRateLimiterOptions>;
const COUNT = whole(1);
const WINDOW = whole(1, MAX_WINDOW_MS);

interface RuleWindows {
  counter: RateLimiterMemory;
  /** When each key's window ends, earliest first: windows of one rule have equal lengths. */
  endsAt: Map<string, number>;
}

/**
 * A limiter within this process: each process of an app counts separately. Its timers do not keep the process
 * alive.
 *
 * Rejects with a `TypeError` if a limit or a cost is not an integer of at least 1, or a window is not an
 * integer from 1 to 2,147,483,647 ms (24.8 days). Rejects with `store_unavailable` after `close`.
 */
export function createMemoryRateLimiter(options: MemoryRateLimiterOptions = {}): RateLimiter {
  const { maxKeys } = checkOptions("createMemoryRateLimiter", options, RULES);
  const rules = new Map<string, RuleWindows>();
  let Counter: typeof RateLimiterMemory | undefined;
  let closed = false;
  const inTurn = createInTurn();

  /**
   * Runs `work` alone. The counter answers a tick after it counts, and it also counts rejected attempts. So
   * each attempt reads first, and no other attempt may count between its read and its count.
   */
  function alone<T>(rule: RateRule, work: (windows: RuleWindows) => Promise<T>): Promise<T> {
    return inTurn(async () => {
      if (closed) throw new ServiceError("store_unavailable", "The rate limiter is closed");
      checkValue("limit", rule.limit, COUNT);
      checkValue("windowMs", rule.windowMs, WINDOW);
      // The package loads 38 files, which the start of a host does not wait for.
      Counter ??= (await import("rate-limiter-flexible")).RateLimiterMemory;
      return await work(windowsOf(rule, Counter));
    });
  }

  function windowsOf({ limit, windowMs }: RateRule, Memory: typeof RateLimiterMemory): RuleWindows {
    const name = `${limit}/${windowMs}`;
    let windows = rules.get(name);
    if (windows === undefined) {
      const counter = new Memory({ points: limit, duration: windowMs / 1000, keyPrefix: "" });
      windows = { counter, endsAt: new Map() };
      rules.set(name, windows);
    }
    return windows;
  }

  function remember(windows: RuleWindows, key: string, resetMs: number): void {
    windows.endsAt.delete(key);
    windows.endsAt.set(key, Date.now() + resetMs);
    for (const [other, endsAt] of windows.endsAt) {
      if (endsAt > Date.now() && windows.endsAt.size <= maxKeys) break;
      forget(windows, other);
    }
  }

  return {
    async consume(key, rule, cost = 1) {
      checkValue("cost", cost, COUNT);
      return await alone(rule, async (windows) => {
        const now = await look(windows, key, rule);
        if (cost > now.remaining) return { ...now, allowed: false };
        const taken = await windows.counter.consume(key, cost);
        // If the clock was set back, `msBeforeNext` exceeds the window, whose timer measures elapsed time.
        const resetMs = Math.min(rule.windowMs, Math.ceil(taken.msBeforeNext));
        if (taken.isFirstInDuration) remember(windows, key, resetMs);
        return { allowed: true, remaining: taken.remainingPoints, resetMs };
      });
    },

    async peek(key, rule) {
      return await alone(rule, (windows) => look(windows, key, rule));
    },

    async refund(key, rule, cost = 1) {
      checkValue("cost", cost, COUNT);
      await alone(rule, async (windows) => {
        const { remaining } = await look(windows, key, rule);
        const back = Math.min(cost, rule.limit - remaining);
        // Without a window there is nothing to refund, and `reward` would begin one.
        if (back > 0) await windows.counter.reward(key, back);
      });
    },

    close() {
      closed = true;
      return inTurn(async () => {
        for (const windows of rules.values()) {
          for (const key of windows.endsAt.keys()) forget(windows, key);
        }
        rules.clear();
      });
    },
  };
}

async function look({ counter }: RuleWindows, key: string, rule: RateRule): Promise<RateResult> {
  const found = await counter.get(key);
  // A record may exist beyond its window until its timer runs.
  if (found === null || found.msBeforeNext <= 0) {
    return { allowed: true, remaining: rule.limit, resetMs: rule.windowMs };
  }
  const remaining = found.remainingPoints;
  return {
    allowed: remaining > 0,
    remaining,
    resetMs: Math.min(rule.windowMs, Math.ceil(found.msBeforeNext)),
  };
}

function forget({ counter, endsAt }: RuleWindows, key: string): void {
  endsAt.delete(key);
  void counter.delete(key); // Done, timer included, when the call returns; the promise never rejects.
}
