import type { RateLimiter, RateResult, RateRule } from "../contracts/rate-limiter.ts";
import { networkKey } from "./client-key.ts";

/** Limits of the wider buckets, as multiples of the limit of one client. */
const NETWORK_FACTOR = 8;
const EVERYONE_FACTOR = 100;
const EVERYONE = "all clients";

/** One bucket of a limit, and its state. */
export interface Bucket extends RateResult {
  /** `client`: its own. `network`: an IPv6 /48. */
  scope: "client" | "network" | "everyone";
  key: string;
  rule: RateRule;
}

/**
 * A limit of each client, with wider buckets above it: 8 times the limit for an IPv6 /48, 100 times for all clients.
 * The wider buckets count in windows of at least one burst. Under a rule with a burst, an IPv4 address has a window of
 * a network too: only a window tells whether a network has used the limit. Clients without an address, such as owners,
 * have their own bucket only.
 */
export interface ClientLimit {
  /** Takes one point from every bucket, or none if a bucket refuses. @returns The client's own bucket, and the one that refused. */
  count(client: string): Promise<{ own: Bucket; refusing: Bucket | undefined }>;
  /** Returns the point that `count` took. */
  refund(client: string): Promise<void>;
  /** The client's buckets, its own first. */
  look(client: string): Promise<Bucket[]>;
  /** Takes `cost` points from every bucket, or what is left. */
  charge(client: string, cost: number): Promise<void>;
}

export function createClientLimit(limiter: RateLimiter, name: string, rule: RateRule): ClientLimit {
  const { limit, windowMs, burst = 0 } = rule;
  type Counted = Pick<Bucket, "scope" | "key" | "rule">;
  const own = (client: string): Counted => ({ scope: "client", key: `${name}:${client}`, rule });
  const window = (scope: Bucket["scope"], key: string, factor: number): Counted => ({
    scope,
    key: `${name}:${key}`,
    rule: { limit: Math.min(Math.max(limit * factor, burst), Number.MAX_SAFE_INTEGER), windowMs },
  });
  const wider = (client: string) => {
    const network = networkKey(client);
    if (network === null) return [];
    const isOwn = network === client && rule.burst === undefined;
    return [
      ...(isOwn ? [] : [window("network", network, NETWORK_FACTOR)]),
      window("everyone", EVERYONE, EVERYONE_FACTOR),
    ];
  };
  const consume = async (each: Counted) => ({ ...each, ...(await limiter.consume(each.key, each.rule)) });

  return {
    async count(client) {
      const first = await consume(own(client));
      if (!first.allowed) return { own: first, refusing: first };
      const buckets = [first, ...(await Promise.all(wider(client).map(consume)))];
      const refusing = refusingBucket(buckets, ({ allowed }) => !allowed, 1);
      if (refusing !== undefined) {
        const taken = buckets.filter(({ allowed }) => allowed);
        await Promise.all(taken.map(({ key, rule: of }) => limiter.refund(key, of)));
      }
      return { own: first, refusing };
    },
    async refund(client) {
      await Promise.all([own(client), ...wider(client)].map(({ key, rule: of }) => limiter.refund(key, of)));
    },
    look: (client) =>
      Promise.all(
        [own(client), ...wider(client)].map(async (each) => ({
          ...each,
          ...(await limiter.peek(each.key, each.rule)),
        })),
      ),
    async charge(client, cost) {
      const all = [own(client), ...wider(client)].map(async ({ key, rule: of }) => {
        const { allowed, remaining } = await limiter.consume(key, of, Math.min(cost, of.burst ?? of.limit));
        // The limiter charges all or nothing, and less than the cost is left: charge the rest.
        if (!allowed && remaining > 0) await limiter.consume(key, of, remaining);
      });
      await Promise.all(all);
    },
  };
}

/**
 * The bucket that refuses a client; `undefined`: none. The bucket of all clients refuses only networks that have used
 * the limit in this window: otherwise a few clients could lock out all others.
 * @param taken Points that this request has taken itself.
 */
export function refusingBucket(
  buckets: readonly Bucket[],
  isOver: (bucket: Bucket) => boolean,
  taken = 0,
): Bucket | undefined {
  const widest = buckets.findLast(({ scope }) => scope !== "everyone");
  const isNew = widest === undefined || widest.rule.limit - widest.remaining <= taken;
  return buckets.find((bucket) => isOver(bucket) && !(bucket.scope === "everyone" && isNew));
}
