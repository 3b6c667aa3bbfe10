import type { RateLimiter, RateRule } from "../../../contracts/rate-limiter.ts";
import { ServiceError } from "../../../errors.ts";
import { createClientLimit, refusingBucket } from "../../../http/client-limit.ts";
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
  const limit = createClientLimit(limiter, "renders", rule);

  return {
    async require(client, othersWait) {
      if (client === HOST_CLIENT) return;
      const refusing = refusingBucket(await limit.look(client), ({ rule: { limit: most }, remaining }) => {
        const isWithin = most - remaining < most / SPARE_BUDGETS;
        return !isWithin && (remaining <= 0 || othersWait());
      });
      if (refusing === undefined) return;
      throw new ServiceError(
        "rate_limited",
        "You have used up your time for new renditions. Stored sizes are still served.",
        { retryAfterMs: refusing.resetMs },
      );
    },
    charge(client, cpuMs) {
      const cost = Math.ceil(cpuMs);
      if (client === HOST_CLIENT || cost < 1) return;
      limit.charge(client, cost).catch(onError);
    },
  };
}
