import type { RateLimiter, RateRule } from "../../../contracts/rate-limiter.ts";
import { ServiceError } from "../../../errors.ts";
import { HOST_CLIENT } from "./queue-order.ts";

/** Number of budgets that a client may use while no other client waits. */
const SPARE_BUDGETS = 5;
const WINDOW_MS = 60_000;

/** Charges clients with the CPU time of their renders. Calls in code are not charged. */
export interface RenderBudget {
  /**
   * Rejects with `rate_limited` if the client has used its budget and others wait, or has used five times its budget.
   * @param othersWait Whether another client waits for the renderer.
   */
  require(client: string, othersWait: () => boolean): Promise<void>;
  /** Charges a client in the background. Never throws. */
  charge(client: string, cpuMs: number): void;
}

export interface RenderBudgetOptions {
  limiter: RateLimiter;
  /** CPU seconds per client and minute; `null`: no limit. */
  cpuSeconds: number | null;
  onError(error: unknown): void;
}

/** Counts in milliseconds, since the limiter counts whole points. */
export function createRenderBudget({ limiter, cpuSeconds, onError }: RenderBudgetOptions): RenderBudget {
  if (cpuSeconds === null) return { require: async () => undefined, charge: () => undefined };
  const budgetMs = Math.max(1, Math.round(cpuSeconds * 1000));
  const rule: RateRule = { limit: budgetMs * SPARE_BUDGETS, windowMs: WINDOW_MS };
  const keyOf = (client: string) => `renders:${client}`;

  async function take(client: string, cpuMs: number): Promise<void> {
    const cost = Math.min(rule.limit, Math.ceil(cpuMs));
    if (cost < 1) return;
    const { allowed, remaining } = await limiter.consume(keyOf(client), rule, cost);
    // The limiter charges all or nothing, and less than the cost is left: charge the rest.
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
