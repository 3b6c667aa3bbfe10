import type { Account, Accounts, QuotaKind } from "../contracts/accounts.ts";
import type { Call } from "../contracts/call.ts";
import type { ContactSource } from "../contracts/contact-source.ts";
import type { KeyValue } from "../contracts/key-value.ts";
import type { Logger } from "../contracts/logger.ts";
import type { MailLists, MailProber } from "../contracts/mail-prober.ts";
import type { Observer } from "../contracts/observer.ts";
import type { RateLimiter } from "../contracts/rate-limiter.ts";
import type { SuppressionList } from "../contracts/suppression-list.ts";
import type { CorsOptions } from "../http/cors.ts";
import type { TlsPolicy } from "../http/transport.ts";
import type { Secret } from "../images/record/pin.ts";

/** Points per month; `false`: no limit. */
export type PlanAllowance = Record<QuotaKind, number | false>;

export interface LookupOptions {
  /** The known addresses. Closed with the service, as are `accounts`, `suppressions` and `prober`. */
  contacts: ContactSource;
  /** Accounts, their keys, and the points that they used. */
  accounts: Accounts;
  /** Suppressed addresses and domains. */
  suppressions: SuppressionList;
  /** Asks the DNS and mail servers. @default None is asked: the verdict is `unknown` */
  prober?: MailProber;
  /** Webmail and disposable domains. @default none are known */
  lists?: MailLists;
  /**
   * At least 32 bytes; suppressions are stored under keys derived from it. Every process and command on the same data needs the
   * same secret: with another, every call is refused with 503. A list rotates it: new entries use the first, and all stay needed.
   */
  secret: Secret;
  /** The cache of verdicts; processes can share it. @default In this process' memory */
  cache?: KeyValue;
  /** Names the account of a request, for hosts with sign-in of their own; `null` or `undefined` leaves it to the key. @default the key alone */
  authenticate?: (call: Call) => Account | null | undefined | Promise<Account | null | undefined>;
  /**
   * The allowance of an account per month, by the name of its plan: `{ searches, verifications }`, each a number from 0, or
   * `false` for no limit. @default free: 100 searches and 100 verifications
   */
  plans?: Readonly<Record<string, PlanAllowance>>;
  /**
   * The names of the two networks' fields: `a` replaces `network_a` in two of them, `b` replaces `network_b`.
   * @default { a: "network_a", b: "network_b" }
   */
  networkNames?: { a: string; b: string };
  /** Requests per account and second, from 1; `false`: no limit. @default 15 */
  requestsPerSecond?: number | false;
  /** Counts them. While it is away, each process counts for itself. Not closed with the service. @default In memory */
  rateLimiter?: RateLimiter;
  /**
   * `required` refuses requests without TLS, but not from a loopback peer that is no proxy, so that development works.
   * `always` has no exception, `off` checks nothing. @default "required"
   */
  tls?: TlsPolicy;
  /** The other web origins that may use the API from a browser. @default none */
  cors?: CorsOptions;
  /** `"host"` leaves unexpected failures to the error handling of the host app. @default "reply" (a plain 500) */
  errors?: "reply" | "host";
  /** Receives every unexpected failure over HTTP and every failure of a backend. @default The logger; without one, console.error */
  onError?: (error: unknown, call?: Call) => void;
  /** Logs failures without `onError`, never an address or a key. @default console.error */
  logger?: Logger;
  /** For metrics and traces; see `@outrigger/telemetry`. @default none */
  observer?: Observer;
  /** The time in Unix milliseconds. @default Date.now */
  now?: () => number;
}
