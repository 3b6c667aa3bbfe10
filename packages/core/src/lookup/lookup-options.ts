import * as shapes from "../contract-rules.ts";
import type { Account } from "../contracts/accounts.ts";
import type { Call } from "../contracts/call.ts";
import { TLS_RULE } from "../http/client.ts";
import { CORS_RULE } from "../http/cors.ts";
import * as rules from "../option-rules.ts";

const PLAN_RULES = {
  searches: rules.required(rules.orFalse(rules.whole(0))),
  verifications: rules.required(rules.orFalse(rules.whole(0))),
};

/** Points per month; `false`: no limit. */
export type PlanAllowance = rules.Options<typeof PLAN_RULES>;

const networkName = rules.text("a name of a-z, 0-9 and _", (name) => /^[a-z][a-z0-9_]{0,40}$/.test(name));

/** The options of `createLookup`. */
export const LOOKUP_RULES = {
  /** The known addresses. Closed with the service, like `accounts`, `suppressions` and `prober`. */
  contacts: rules.required(shapes.contactSource),
  /** Accounts, their keys and their used points. */
  accounts: rules.required(shapes.accounts),
  /** Suppressed addresses and domains. */
  suppressions: rules.required(shapes.suppressionList),
  /** Queries the DNS and mail servers. @default no probing: the verdict is `unknown` */
  prober: shapes.mailProber,
  /** Webmail and disposable domains. @default none are known */
  lists: shapes.mailLists,
  /**
   * Secret of at least 32 bytes, from which the keys of stored suppressions are derived. All processes and commands
   * on the same data need it; with another one, every request gets 503. To rotate it, pass a list: new entries use
   * the first secret, and the others must stay.
   */
  secret: rules.required(rules.secret()),
  /** Cache of verification results; processes can share it. @default in memory */
  cache: shapes.keyValue,
  /**
   * Returns the account of a request, for hosts with their own sign-in. `null` or `undefined`: the API key decides.
   * @default only API keys
   */
  authenticate: rules.fn<(call: Call) => Account | null | undefined | Promise<Account | null | undefined>>(),
  /**
   * Monthly allowance of each plan by name: `{ searches, verifications }`, each a number from 0, or `false` for no
   * limit.
   * @default free: 100 searches and 100 verifications
   */
  plans: rules.preset({}, rules.named(rules.nested(PLAN_RULES))),
  /**
   * Names of the two networks in field names, instead of `network_a` and `network_b`.
   * @default `{ a: "network_a", b: "network_b" }`
   */
  networkNames: rules.preset(
    { a: "network_a", b: "network_b" },
    rules.refined(
      rules.nested({ a: rules.required(networkName), b: rules.required(networkName) }),
      ({ a, b }) => (a === b ? [{ path: ".b", text: "must differ from a" }] : []),
    ),
  ),
  /**
   * Requests per second and account, at least 1; `false`: no limit. A request over the rate waits up to two seconds, at most 30 at
   * once for each account; further ones get 429.
   * @default 15
   */
  requestsPerSecond: rules.preset(15, rules.orFalse(rules.whole(1))),
  /** Whether the key `test-api-key` gets the fixed answers. `false`: it is an unknown key. @default true */
  testKey: rules.preset(true, rules.flag()),
  /**
   * Counts requests per second. While it is unavailable, each process counts for itself. Not closed with the service.
   * @default in memory
   */
  rateLimiter: shapes.rateLimiter,
  /** As `tls` of `createImages`. @default "required" */
  tls: TLS_RULE,
  /** Other web origins that may use the API from a browser. @default none */
  cors: CORS_RULE,
  /** `"host"` passes unexpected failures to the error handling of the host app. @default "reply" (a plain 500) */
  errors: rules.preset("reply", rules.oneOf("reply", "host")),
  /** Called with every unexpected failure and every failure of a backend. @default the logger, else console.error */
  onError: rules.fn<(error: unknown, call?: Call) => void>(),
  /** Receives failures if `onError` is absent; never an address or a key. @default console.error */
  logger: shapes.logger,
  /** Receives metrics and traces; see `@outrigger/telemetry`. @default none */
  observer: shapes.observer,
  /** Returns the current time in Unix milliseconds. @default Date.now */
  now: rules.preset(() => Date.now(), rules.fn<() => number>()),
};

export interface LookupOptions extends rules.Options<typeof LOOKUP_RULES> {}
