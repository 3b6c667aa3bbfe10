import { createHmac } from "node:crypto";
import type { Account, QuotaKind } from "../contracts/accounts.ts";
import { type FailureListener, failureListener } from "../http/failure-listener.ts";
import type * as rules from "../option-rules.ts";
import { deriveLookupKeys } from "./lookup-keys.ts";
import type { LOOKUP_RULES, PlanAllowance } from "./lookup-options.ts";

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

export type CheckedOptions = rules.Checked<typeof LOOKUP_RULES>;

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
      options.logger?.info(
        { erasure: { at, count, hmac } },
        count === 0 ? "no contact data found" : "contact data erased",
      );
    },
    now: options.now,
  };
}

function orNull(points: number | false): number | null {
  return points === false ? null : points;
}
