import type { Account, QuotaKind } from "../contracts/accounts.ts";
import type { Call } from "../contracts/call.ts";
import type { RateRule } from "../contracts/rate-limiter.ts";
import { failureListener } from "../http/failure-listener.ts";
import type { TlsPolicy } from "../http/transport.ts";
import type { Secret } from "../images/pin.ts";
import { deriveLookupKeys } from "./lookup-keys.ts";
import type { LookupOptions, PlanAllowance } from "./lookup-options.ts";

/** The options of a lookup with their defaults filled in. */
export interface LookupSettings {
  /** Keys of every given secret, the first of them the current one's. */
  keys: ReturnType<typeof deriveLookupKeys>;
  /** Points per month; `null`: no limit. */
  allowanceOf(account: Account): Record<QuotaKind, number | null>;
  authenticate: NonNullable<LookupOptions["authenticate"]> | null;
  networkNames: { a: string; aUrl: string; b: string };
  rate: RateRule | null;
  tls: TlsPolicy;
  errors: "reply" | "host";
  onError: (error: unknown, call?: Call) => void;
  now: () => number;
}

const FREE: PlanAllowance = { searches: 100, verifications: 100 };

/** Fills in the defaults; throws a TypeError that names the option which is out of range. */
export function lookupSettings(
  options: Omit<LookupOptions, "contacts" | "accounts" | "suppressions">,
): LookupSettings {
  const plans = new Map(Object.entries({ free: FREE, ...options.plans }));
  for (const [name, plan] of plans) checkPlan(name, plan);
  return {
    keys: deriveLookupKeys(required(options.secret)),
    allowanceOf({ plan }) {
      // A plan that is no more has what everybody has.
      const { searches, verifications } = plans.get(plan) ?? FREE;
      return { searches: orNull(searches), verifications: orNull(verifications) };
    },
    authenticate: options.authenticate ?? null,
    networkNames: checkNames(options.networkNames ?? { a: "network_a", b: "network_b" }),
    rate: rateOf(options.requestsPerSecond ?? 15),
    tls: oneOf("tls", options.tls ?? "required", ["required", "always", "off"]),
    errors: oneOf("errors", options.errors ?? "reply", ["reply", "host"]),
    onError: failureListener(options),
    now: options.now ?? Date.now,
  };
}

function orNull(points: number | false): number | null {
  return points === false ? null : points;
}

/** In JavaScript, a variable of the environment that is not set gets here. */
function required(secret: Secret | null | undefined): Secret {
  if (secret !== undefined && secret !== null && secret !== "") return secret;
  throw new TypeError(
    "secret is required: at least 32 bytes, the same for every process and command on this database. Make one with: openssl rand -hex 32",
  );
}

function checkPlan(name: string, plan: PlanAllowance): void {
  for (const kind of ["searches", "verifications"] as const) {
    const points = plan[kind];
    if (points === false || (Number.isSafeInteger(points) && points >= 0)) continue;
    throw new TypeError(`plans.${name}.${kind} must be false or a whole number from 0`);
  }
}

function checkNames({ a, b }: { a: string; b: string }): LookupSettings["networkNames"] {
  for (const [key, name] of Object.entries({ a, b })) {
    if (!/^[a-z][a-z0-9_]{0,40}$/.test(name)) {
      throw new TypeError(
        `networkNames.${key} must be a name of a-z, 0-9 and _, not ${JSON.stringify(name)}`,
      );
    }
  }
  if (a === b) throw new TypeError("networkNames.a and networkNames.b must differ");
  return { a, aUrl: `${a}_url`, b };
}

function rateOf(requestsPerSecond: number | false): RateRule | null {
  if (requestsPerSecond === false) return null;
  if (Number.isSafeInteger(requestsPerSecond) && requestsPerSecond >= 1) {
    return { limit: requestsPerSecond, windowMs: 1000 };
  }
  throw new TypeError("requestsPerSecond must be false or a whole number from 1");
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw new TypeError(`${name} must be one of ${allowed.join(", ")}`);
}
