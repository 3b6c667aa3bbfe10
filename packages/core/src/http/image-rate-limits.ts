import * as rules from "../option-rules.ts";

/**
 * A limit of requests: a number per minute, counted in windows of a minute, or a burst that refills. A client may send
 * `burst` requests at once; its allowance refills at `perMinute` requests a minute, steadily. Each is an integer from 1.
 */
const RATE_LIMIT = rules.orFalse(
  rules.either(
    "a whole number from 1, or { perMinute, burst } of such numbers",
    { perMinute: rules.required(rules.whole(1)), burst: rules.required(rules.whole(1)) },
    rules.whole(1),
  ),
);

export const RATE_LIMIT_RULES = {
  /** Maximum number of uploads. @default `{ perMinute: 60, burst: 200 }` */
  creates: rules.preset({ perMinute: 60, burst: 200 }, RATE_LIMIT),
  /** Maximum number of reads: pictures, records and pages. @default 1200 */
  reads: rules.preset(1200, RATE_LIMIT),
  /** Maximum number of changes and deletions. @default 30 */
  edits: rules.preset(30, RATE_LIMIT),
  /** Maximum number of wrong PINs. @default 10 */
  pinFailures: rules.preset(10, RATE_LIMIT),
  /** Maximum number of reports. A client also sends at most 20 a day. @default 10 */
  reports: rules.preset(10, RATE_LIMIT),
};

/**
 * Limits of requests per client address (IPv6: per /64): a number per minute, or `{ perMinute, burst }`, of which
 * `burst` may come at once. `false` switches a limit off. For `creates` and `pinFailures`, an IPv6 /48 has 8 times
 * the limit per minute and all clients together 100 times, without bursts. Beyond the limit of all clients, each
 * network still has its own.
 */
export interface ImageRateLimits extends rules.Options<typeof RATE_LIMIT_RULES> {}
