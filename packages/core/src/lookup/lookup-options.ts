import type { Account, Accounts, QuotaKind } from "../contracts/accounts.ts";
import type { Call } from "../contracts/call.ts";
import type { ContactSource } from "../contracts/contact-source.ts";
import type { KeyValue } from "../contracts/key-value.ts";
import type { Logger } from "../contracts/logger.ts";
import type { MailLists, MailProber } from "../contracts/mail-prober.ts";
import type { Observer } from "../contracts/observer.ts";
import type { RateLimiter } from "../contracts/rate-limiter.ts";
import type { SuppressionList } from "../contracts/suppression-list.ts";
import type { VerificationQueue } from "../contracts/verification-queue.ts";
import type { TlsPolicy } from "../http/client.ts";
import type { CorsOptions } from "../http/cors.ts";
import type { Secret } from "../secret-bytes.ts";

/** Points per month; `false`: no limit. */
export type PlanAllowance = Record<QuotaKind, number | false>;

export interface LookupOptions {
  /** The known addresses. Closed with the service, like `accounts`, `suppressions` and `prober`. */
  contacts: ContactSource;
  /** Accounts, their keys and their used points. */
  accounts: Accounts;
  /** Suppressed addresses and domains. */
  suppressions: SuppressionList;
  /** Queries the DNS and mail servers. @default no probing: the verdict is `unknown` */
  prober?: MailProber | undefined;
  /**
   * Lists of addresses that are verified in the background, and single addresses over their probe budget. Processes
   * can share it. Closed with the service.
   * @default in memory: a restart loses the lists
   */
  verifications?: VerificationQueue | undefined;
  /**
   * Addresses of `verifications` that this process verifies at once, 0 to 150. 0: other processes verify them.
   * @default 64
   */
  verifyAtOnce?: number | undefined;
  /** Webmail and disposable domains. @default none are known */
  lists?: MailLists | undefined;
  /**
   * Secret of at least 32 bytes, from which the keys of stored suppressions are derived. All processes and commands
   * on the same data need it; with another one, every request gets 503. To rotate it, pass a list: new entries use
   * the first secret, and the others must stay.
   */
  secret: Secret;
  /** Cache of verification results; processes can share it. @default in memory */
  cache?: KeyValue | undefined;
  /**
   * Returns the account of a request, for hosts with their own sign-in. `null` or `undefined`: the API key decides.
   * @default only API keys
   */
  authenticate?:
    | ((call: Call) => Account | null | undefined | Promise<Account | null | undefined>)
    | undefined;
  /**
   * Monthly allowance of each plan by name: `{ searches, verifications }`, each a number from 0, or `false` for no
   * limit.
   * @default free: 100 searches and 100 verifications
   */
  plans?: Readonly<Record<string, PlanAllowance>> | undefined;
  /**
   * Names of the two networks in field names, instead of `network_a` and `network_b`.
   * @default `{ a: "network_a", b: "network_b" }`
   */
  networkNames?: { a: string; b: string } | undefined;
  /** Requests per second and account, at least 1; `false`: no limit. @default 15 */
  requestsPerSecond?: number | false | undefined;
  /** Whether the key `test-api-key` gets the fixed answers. `false`: it is an unknown key. @default true */
  testKey?: boolean | undefined;
  /**
   * Counts requests per second. While it is unavailable, each process counts for itself. Not closed with the service.
   * @default in memory
   */
  rateLimiter?: RateLimiter | undefined;
  /** As `tls` of `createImages`. @default "required" */
  tls?: TlsPolicy | undefined;
  /** Other web origins that may use the API from a browser. @default none */
  cors?: CorsOptions | undefined;
  /** `"host"` passes unexpected failures to the host app's error handling. @default "reply" (a plain 500) */
  errors?: "reply" | "host" | undefined;
  /** Called with every unexpected failure and every failure of a backend. @default the logger, else console.error */
  onError?: ((error: unknown, call?: Call) => void) | undefined;
  /** Receives failures if `onError` is absent; never an address or a key. @default console.error */
  logger?: Logger | undefined;
  /** Receives metrics and traces; see `@outrigger/telemetry`. @default none */
  observer?: Observer | undefined;
  /** Returns the current time in Unix milliseconds. @default Date.now */
  now?: (() => number) | undefined;
}
