import { createSingleFlight } from "../../../async/single-flight.ts";
import { isServiceError } from "../../../errors.ts";
import type { Claim } from "./queue-order.ts";
import type { RenderScheduler } from "./render-scheduler.ts";

/** One render per key for all clients of this process that request it. It takes the best turn among theirs. */
export interface RenderFlights<T> {
  /**
   * Joins the running render, or starts one.
   * @param mayRetry Whether to resolve to `null`, so that the client retries, if the joined render is rejected because of the
   * client that started it.
   */
  join(
    key: string,
    reader: { client: string; signal: AbortSignal },
    render: (claim: Claim, signal: AbortSignal) => Promise<T>,
    mayRetry: boolean,
  ): Promise<T | null>;
}

export function createRenderFlights<T>(scheduler: Pick<RenderScheduler, "join">): RenderFlights<T> {
  const flights = createSingleFlight<T>();
  /** Claims of the flights, by key. */
  const claims = new Map<string, Claim>();
  return {
    async join(key, { client, signal }, render, mayRetry) {
      const theirs = claims.get(key);
      if (theirs !== undefined) scheduler.join(theirs, client);
      let isOwn = false;
      const start = async (flightSignal: AbortSignal) => {
        isOwn = true;
        const claim = claimOf(client);
        claims.set(key, claim);
        try {
          return await render(claim, flightSignal);
        } finally {
          if (claims.get(key) === claim) claims.delete(key);
        }
      };
      try {
        return await flights.join(key, start, signal);
      } catch (error) {
        if (isOwn || !mayRetry || !isServiceError(error, "rate_limited")) throw error;
        return null;
      }
    },
  };
}

export function claimOf(client: string): Claim {
  return { clients: new Set([client]) };
}
