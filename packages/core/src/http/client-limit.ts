import type { RateLimiter, RateResult, RateRule } from "../contracts/rate-limiter.ts";
import { networkKey } from "./client.ts";

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

/** A bucket without its state. */
type Counted = Pick<Bucket, "scope" | "key" | "rule">;

/**
 * A limit of each client, with wider buckets above it: 8 times the limit for an IPv6 /48, 100 times for all clients.
 * The wider buckets count in windows of at least one burst. Under a rule with a burst, an IPv4 address has a window of
 * a network too: only a window tells whether a network has used the limit. Clients without an address, such as owners,
 * have their own bucket only.
 */
export class ClientLimit {
  readonly #limiter: RateLimiter;
  readonly #name: string;
  readonly #rule: RateRule;

  constructor(limiter: RateLimiter, name: string, rule: RateRule) {
    this.#limiter = limiter;
    this.#name = name;
    this.#rule = rule;
  }

  /** Takes one point from every bucket, or none if a bucket refuses. @returns The client's own bucket, and the one that refused. */
  async count(client: string): Promise<{ own: Bucket; refusing: Bucket | undefined }> {
    const [first, ...wider] = this.#bucketsOf(client);
    const consume = async (each: Counted) => ({
      ...each,
      ...(await this.#limiter.consume(each.key, each.rule)),
    });
    const own = await consume(first);
    if (!own.allowed) return { own, refusing: own };
    const buckets = [own, ...(await Promise.all(wider.map(consume)))];
    const refusing = refusingBucket(buckets, ({ allowed }) => !allowed, 1);
    if (refusing !== undefined) await this.#refund(buckets.filter(({ allowed }) => allowed));
    return { own, refusing };
  }

  /** Returns the point that `count` took. */
  refund(client: string): Promise<void> {
    return this.#refund(this.#bucketsOf(client));
  }

  /** The client's buckets, its own first. */
  peek(client: string): Promise<Bucket[]> {
    return Promise.all(
      this.#bucketsOf(client).map(async (each) => ({
        ...each,
        ...(await this.#limiter.peek(each.key, each.rule)),
      })),
    );
  }

  /** Takes `cost` points from every bucket, or what is left. */
  async charge(client: string, cost: number): Promise<void> {
    const all = this.#bucketsOf(client).map(async ({ key, rule }) => {
      const points = Math.min(cost, rule.burst ?? rule.limit);
      const { allowed, remaining } = await this.#limiter.consume(key, rule, points);
      // The limiter charges all or nothing, and less than the cost is left: charge the rest.
      if (!allowed && remaining > 0) await this.#limiter.consume(key, rule, remaining);
    });
    await Promise.all(all);
  }

  #bucketsOf(client: string): [Counted, ...Counted[]] {
    const { limit, windowMs, burst } = this.#rule;
    const bucket = (scope: Bucket["scope"], key: string, factor: number): Counted => {
      const points = Math.min(Math.max(limit * factor, burst ?? 0), Number.MAX_SAFE_INTEGER);
      const rule = scope === "client" ? this.#rule : { limit: points, windowMs };
      return { scope, key: `${this.#name}:${key}`, rule };
    };
    const own = bucket("client", client, 1);
    const network = networkKey(client);
    if (network === null) return [own];
    const everyone = bucket("everyone", EVERYONE, EVERYONE_FACTOR);
    if (network === client && burst === undefined) return [own, everyone];
    return [own, bucket("network", network, NETWORK_FACTOR), everyone];
  }

  async #refund(buckets: readonly Counted[]): Promise<void> {
    await Promise.all(buckets.map(({ key, rule }) => this.#limiter.refund(key, rule)));
  }
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
