import { createHmac } from "node:crypto";
import * as shapes from "../contract-rules.ts";
import type { Account, QuotaKind } from "../contracts/accounts.ts";
import { CORS_RULE } from "../http/cors.ts";
import { type FailureListener, failureListener } from "../http/failure-listener.ts";
import * as rules from "../option-rules.ts";
import { MIN_SECRET_BYTES } from "../secret-bytes.ts";
import { deriveLookupKeys } from "./lookup-keys.ts";
import type { LookupOptions, PlanAllowance } from "./lookup-options.ts";

/** The settings of the operations; HTTP options stay in {@link CheckedOptions}. */
export interface LookupSettings {
  /** Keys of every given secret; the first are those of the current secret. */
  keys: ReturnType<typeof deriveLookupKeys>;
  /** Points per month; `null`: no limit. */
  allowanceOf(account: Account): Record<QuotaKind, number | null>;
  networkNames: { a: string; aUrl: string; b: string };
  onError: FailureListener;
  /**
   * Logs an erasure: the time, the number of deleted entries, and an HMAC with which a holder of the secret can
   * prove that this subject was erased.
   */
  recordErasure(subject: string, count: number): void;
  now: () => number;
}

const FREE: PlanAllowance = { searches: 100, verifications: 100 };

const PLAN_RULES = {
  searches: rules.required(rules.orFalse(rules.whole(0))),
  verifications: rules.required(rules.orFalse(rules.whole(0))),
} satisfies rules.RuleTable<PlanAllowance>;

const networkName = rules.text("a name of a-z, 0-9 and _", (name) => /^[a-z][a-z0-9_]{0,40}$/.test(name));

/** The options of `createLookup`. */
export const LOOKUP_RULES = {
  contacts: rules.required(shapes.contactSource),
  accounts: rules.required(shapes.accounts),
  suppressions: rules.required(shapes.suppressionList),
  prober: shapes.mailProber,
  verifications: shapes.verificationQueue,
  verifyAtOnce: rules.preset(64, rules.whole(0, 150)),
  lists: shapes.mailLists,
  secret: rules.required(rules.secret(MIN_SECRET_BYTES, true)),
  cache: shapes.keyValue,
  authenticate: rules.fn(),
  plans: rules.preset({}, rules.named(rules.nested(PLAN_RULES))),
  networkNames: rules.preset(
    { a: "network_a", b: "network_b" },
    rules.refined(
      rules.nested({ a: rules.required(networkName), b: rules.required(networkName) }),
      ({ a, b }: { a: string; b: string }) => (a === b ? [{ path: ".b", text: "must differ from a" }] : []),
    ),
  ),
  requestsPerSecond: rules.preset(15, rules.orFalse(rules.whole(1))),
  testKey: rules.preset(true, rules.flag()),
  rateLimiter: shapes.rateLimiter,
  tls: rules.preset("required", rules.oneOf("required", "always", "off")),
  cors: CORS_RULE,
  errors: rules.preset("reply", rules.oneOf("reply", "host")),
  onError: rules.fn(),
  logger: shapes.logger,
  observer: shapes.observer,
  now: rules.preset(() => Date.now(), rules.fn()),
} satisfies rules.RuleTable<LookupOptions>;

export type CheckedOptions = rules.Checked<LookupOptions, typeof LOOKUP_RULES>;

/** The settings of checked options. */
export function lookupSettings(options: CheckedOptions): LookupSettings {
  const plans = new Map(Object.entries({ free: FREE, ...options.plans }));
  const { a, b } = options.networkNames;
  const keys = deriveLookupKeys(options.secret);
  return {
    keys,
    allowanceOf({ plan }) {
      // An account of a removed plan gets the free plan.
      const { searches, verifications } = plans.get(plan) ?? FREE;
      return { searches: orNull(searches), verifications: orNull(verifications) };
    },
    networkNames: { a, aUrl: `${a}_url`, b },
    onError: failureListener(options),
    recordErasure(subject, count) {
      const hmac = createHmac("sha256", keys[0].suppressions).update(`erase:${subject}`).digest("base64url");
      const at = new Date(options.now()).toISOString();
      options.logger?.info({ erasure: { at, count, hmac } }, "contact data erased");
    },
    now: options.now,
  };
}

function orNull(points: number | false): number | null {
  return points === false ? null : points;
}
