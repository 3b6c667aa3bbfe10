import type { BlockList } from "node:net";
import { isIP } from "node:net";
import type { KeyValue } from "@outrigger/core";
import { specialAddresses } from "./special-addresses.ts";

/** Who we are to mail servers. Both should exist: they are what a postmaster sees, and where complaints go. */
export interface SmtpIdentity {
  /** The name of this machine, with a dot in it, which resolves to its address and back. */
  helo: string;
  /** An address that takes mail; `""` is the null sender `<>`. */
  mailFrom: string;
}

/** How a mail host, by its address, is spared. */
export interface HostBudget {
  /** Sessions at a time, 1 to 1000. @default 2 */
  sessions?: number;
  /** Mailboxes asked about in any 60 seconds, from 2: one question may take two. @default 30 */
  questionsPerMinute?: number;
  /** How long a question waits for its turn before it is given up with `budget`, in milliseconds from 0. @default 5000 */
  maxWaitMs?: number;
}

/** When it is concluded that this machine reaches port 25 of nobody. */
export interface EgressRule {
  /** So many hosts, of as many domains, could not be connected to, and none could; 2 to 1000. @default 5 */
  hosts?: number;
  /** Within this time, in milliseconds from 1. @default 300_000 */
  windowMs?: number;
  /** For so long all questions but one are answered at once; that one tells whether it is over. Milliseconds from 1. @default 600_000 */
  pauseMs?: number;
}

export interface MailProberOptions {
  /** Who asks mail servers whether they take an address. @default nobody: none is ever connected to, only the DNS is asked */
  smtp?: SmtpIdentity;
  /** Addresses of resolvers, each with a port where that is not 53: `["192.0.2.53", "[2001:db8::53]:5353"]`. @default the machine's */
  dnsServers?: readonly string[];
  /** Of mail servers, 1 to 65535. @default 25 */
  port?: number;
  /** Addresses that are never connected to. @default specialAddresses(), which are all that are not of the public internet */
  forbidden?: BlockList;
  /** At most so many mail hosts of a domain are looked at, the preferred first; 1 to 20. @default 5 */
  maxHosts?: number;
  /** For all questions to the DNS about a domain, in milliseconds from 1. @default 5000 */
  dnsMs?: number;
  /** For a connection, in milliseconds from 1. @default 5000 */
  connectMs?: number;
  /** For each complete reply, in milliseconds from 1; RFC 5321 would have it minutes. @default 10_000 */
  replyMs?: number;
  /** For all that a probe does, in milliseconds from 1. @default 30_000 */
  wholeMs?: number;
  /** How each mail host is spared. @default what {@link HostBudget} names */
  budget?: HostBudget;
  /** When nobody is asked for want of a way out. @default what {@link EgressRule} names */
  egress?: EgressRule;
  /** How long a greylisted question waits before it is asked again, where the server does not say. Milliseconds from 1. @default 300_000 */
  greylistMs?: number;
  /** How long the mail hosts of a domain hold, or that it has none, in milliseconds from 1. Failures are never kept. @default 600_000 */
  routeTtlMs?: number;
  /** How long it holds whether a domain accepts all, in milliseconds from 1. @default 86_400_000 */
  acceptsAllTtlMs?: number;
  /** Where mail hosts, domains that accept all and greylisted questions are remembered. @default 10,000 in memory */
  cache?: KeyValue;
  /**
   * Makes keys of the cache that nobody can read an address from; shared by processes that share the cache.
   * @default random
   */
  secret?: string;
  /** Milliseconds since 1970. @default Date.now */
  now?: () => number;
  /** Hears of a cache that fails; the probe goes on without it. @default nobody hears of it */
  onError?: (error: unknown) => void;
}

/** {@link MailProberOptions}, checked and complete. */
export type ProberSettings = Required<
  Omit<MailProberOptions, "smtp" | "dnsServers" | "budget" | "egress" | "cache" | "secret">
> & {
  smtp: SmtpIdentity | null;
  dnsServers: readonly string[] | null;
  budget: Required<HostBudget>;
  egress: Required<EgressRule>;
};

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Throws a `TypeError` that says what is wrong. */
export function readProberOptions(options: MailProberOptions): ProberSettings {
  const { smtp = null, dnsServers = null, budget = {}, egress = {} } = options;
  if (smtp !== null) checkIdentity(smtp);
  for (const server of dnsServers ?? []) {
    if (isIP(server.replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, "$1$3")) !== 0) continue;
    throw new TypeError(`dnsServers must be IP addresses with or without a port, not "${server}".`);
  }
  const whole = (name: string, value: number | undefined, preset: number, min: number, max: number) =>
    integer(name, value ?? preset, min, max);
  return {
    smtp,
    dnsServers,
    port: whole("port", options.port, 25, 1, 65_535),
    forbidden: options.forbidden ?? specialAddresses(),
    maxHosts: whole("maxHosts", options.maxHosts, 5, 1, 20),
    dnsMs: whole("dnsMs", options.dnsMs, 5000, 1, MAX_TIMER_MS),
    connectMs: whole("connectMs", options.connectMs, 5000, 1, MAX_TIMER_MS),
    replyMs: whole("replyMs", options.replyMs, 10_000, 1, MAX_TIMER_MS),
    wholeMs: whole("wholeMs", options.wholeMs, 30_000, 1, MAX_TIMER_MS),
    budget: {
      sessions: whole("budget.sessions", budget.sessions, 2, 1, 1000),
      questionsPerMinute: whole("budget.questionsPerMinute", budget.questionsPerMinute, 30, 2, 1_000_000),
      maxWaitMs: whole("budget.maxWaitMs", budget.maxWaitMs, 5000, 0, MAX_TIMER_MS),
    },
    egress: {
      hosts: whole("egress.hosts", egress.hosts, 5, 2, 1000),
      windowMs: whole("egress.windowMs", egress.windowMs, 300_000, 1, MAX_TIMER_MS),
      pauseMs: whole("egress.pauseMs", egress.pauseMs, 600_000, 1, MAX_TIMER_MS),
    },
    greylistMs: whole("greylistMs", options.greylistMs, 300_000, 1, MAX_TIMER_MS),
    routeTtlMs: whole("routeTtlMs", options.routeTtlMs, 600_000, 1, MAX_TIMER_MS),
    acceptsAllTtlMs: whole("acceptsAllTtlMs", options.acceptsAllTtlMs, 86_400_000, 1, MAX_TIMER_MS),
    now: options.now ?? Date.now,
    onError: options.onError ?? (() => undefined),
  };
}

function checkIdentity({ helo, mailFrom }: SmtpIdentity): void {
  if (!/^(?=.{4,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(helo)) {
    throw new TypeError(`smtp.helo must be a full host name, such as mail.example.com, not "${helo}".`);
  }
  if (!/^(?:[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+)?$/i.test(mailFrom)) {
    throw new TypeError(`smtp.mailFrom must be an ASCII address or empty, not "${mailFrom}".`);
  }
}

function integer(name: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name} must be an integer of ${min} to ${max}, not ${value}.`);
}
