import type { RateLimiter, RateRule } from "../../../contracts/rate-limiter.ts";
import { ServiceError } from "../../../errors.ts";
import { HOST_CLIENT } from "./queue-order.ts";

/** Budgets that a client may use up while no other client waits. */
const SPARE_BUDGETS = 5;
const WINDOW_MS = 60_000;

/** CPU time of renders that clients are charged with. Calls in code are not. */
export interface RenderBudget {
  /**
   * Rejects with `rate_limited` a client that has used its budget while others wait, or five times its budget.
   * @param othersWait whether another client waits for the renderer.
   */
  require(client: string, othersWait: () => boolean): Promise<void>;
  /** Charges a client. Neither rejects nor is waited for. */
  charge(client: string, cpuMs: number): void;
}

export interface RenderBudgetOptions {
  limiter: RateLimiter;
  /** CPU seconds per client and minute; `null`: as many as it likes. */
  cpuSeconds: number | null;
  onError(error: unknown): void;
}

/** Counts in milliseconds, so that the limiter's whole points are exact enough. */
export function createRenderBudget({ limiter, cpuSeconds, onError }: RenderBudgetOptions): RenderBudget {
  if (cpuSeconds === null) return { require: async () => undefined, charge: () => undefined };
  const budgetMs = Math.max(1, Math.round(cpuSeconds * 1000));
  const rule: RateRule = { limit: budgetMs * SPARE_BUDGETS, windowMs: WINDOW_MS };
  const keyOf = (client: string) => `renders:${client}`;

  async function take(client: string, cpuMs: number): Promise<void> {
    const cost = Math.min(rule.limit, Math.ceil(cpuMs));
    if (cost < 1) return;
    const { allowed, remaining } = await limiter.consume(keyOf(client), rule, cost);
    // All or none: what is left of the window is less than the cost.
    if (!allowed && remaining > 0) await limiter.consume(keyOf(client), rule, remaining);
  }

  return {
    async require(client, othersWait) {
      if (client === HOST_CLIENT) return;
      const { remaining, resetMs } = await limiter.peek(keyOf(client), rule);
      const usedMs = rule.limit - remaining;
      if (usedMs < budgetMs || (remaining > 0 && !othersWait())) return;
      throw new ServiceError(
        "rate_limited",
        "You have used up your time for new renditions. Stored sizes are still served.",
        { retryAfterMs: resetMs },
      );
    },
    charge(client, cpuMs) {
      if (client === HOST_CLIENT) return;
      take(client, cpuMs).catch(onError);
    },
  };
}
