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
  /** What is known of people's addresses. Closed with the service, as the next two and `prober`. */
  contacts: ContactSource;
  /** Who may ask, with which keys, and what they have used up. */
  accounts: Accounts;
  /** Who is left out. */
  suppressions: SuppressionList;
  /** Asks the DNS and mail servers. @default Nobody is asked: addresses that no source knows are `unknown` */
  prober?: MailProber;
  /** Webmail and disposable domains. @default none are known */
  lists?: MailLists;
  /**
   * At least 32 bytes; suppressions are kept by keys derived from it. Every process and command on the same data needs the same
   * one: with another, all calls answer 503. A list rotates it: the first is used for new entries, and all of them stay needed.
   */
  secret: Secret;
  /** Where verdicts are remembered; processes that share it share them. @default In this process' memory */
  cache?: KeyValue;
  /** Says who asks, for hosts with sign-in of their own; `null` or `undefined` leaves it to the key. @default the key alone */
  authenticate?: (call: Call) => Account | null | undefined | Promise<Account | null | undefined>;
  /**
   * What accounts may use up in a month, by the name of their plan: `{ searches, verifications }`, each a number from 0, or
   * `false` for no limit. @default free: 100 searches and 100 verifications
   */
  plans?: Readonly<Record<string, PlanAllowance>>;
  /**
   * What the fields of the two networks are called: `network_a`, `network_a_url` by the first, `network_b` by the second.
   * @default { a: "network_a", b: "network_b" }
   */
  networkNames?: { a: string; b: string };
  /** Requests per account and second, from 1; `false`: no limit. @default 15 */
  requestsPerSecond?: number | false;
  /** Where those are counted. While it is away, each process counts for itself. Not closed with the service. @default In memory */
  rateLimiter?: RateLimiter;
  /**
   * What to ask of the connection: `required` exempts a loopback peer that is no proxy, so that development works; `always`
   * exempts nobody; `off` where TLS is somebody else's job. @default "required"
   */
  tls?: TlsPolicy;
  /** Which other web origins may use the API from a browser. @default none */
  cors?: CorsOptions;
  /** `"host"` leaves failures that nobody expected to the host app's own error handling. @default "reply" (a plain 500) */
  errors?: "reply" | "host";
  /** Told of every unexpected failure and every trouble of a backend. @default The logger; without one, console.error */
  onError?: (error: unknown, call?: Call) => void;
  /** Where failures are logged, without `onError`. Never an address or a key. @default console.error */
  logger?: Logger;
  /** For metrics and traces; see `@outrigger/telemetry`. @default none */
  observer?: Observer;
  /** The time in Unix milliseconds. @default Date.now */
  now?: () => number;
}
