import type { BlockList } from "node:net";
import { isIP } from "node:net";
import type { KeyValue } from "@outrigger/core";
import { type Checked, checkOptions, type RuleTable, rules, shapes } from "@outrigger/core/stores";
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

const MAX_TIMER_MS = 2 ** 31 - 1;
const HELO = /^(?=.{4,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
const MAIL_FROM = /^(?:[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+)?$/i;

const IDENTITY_RULES = {
  helo: rules.required(rules.text("a full host name, such as mail.example.com", (name) => HELO.test(name))),
  mailFrom: rules.required(rules.text("an ASCII address or empty", (from) => MAIL_FROM.test(from))),
} satisfies RuleTable<SmtpIdentity>;

const BUDGET_RULES = {
  sessions: rules.preset(2, rules.whole(1, 1000)),
  questionsPerMinute: rules.preset(30, rules.whole(2, 1_000_000)),
  maxWaitMs: rules.preset(5000, rules.whole(0, MAX_TIMER_MS)),
} satisfies RuleTable<HostBudget>;

const EGRESS_RULES = {
  hosts: rules.preset(5, rules.whole(2, 1000)),
  windowMs: rules.preset(300_000, rules.whole(1, MAX_TIMER_MS)),
  pauseMs: rules.preset(600_000, rules.whole(1, MAX_TIMER_MS)),
} satisfies RuleTable<EgressRule>;

/** The options of `createMailProber`. */
export const PROBER_RULES = {
  smtp: rules.nested(IDENTITY_RULES),
  dnsServers: rules.texts("a list of IP addresses with or without a port", isServerAddress),
  port: rules.preset(25, rules.whole(1, 65_535)),
  forbidden: rules.shape("a BlockList of node:net", "check", "addAddress"),
  maxHosts: rules.preset(5, rules.whole(1, 20)),
  dnsMs: rules.preset(5000, rules.whole(1, MAX_TIMER_MS)),
  connectMs: rules.preset(5000, rules.whole(1, MAX_TIMER_MS)),
  replyMs: rules.preset(10_000, rules.whole(1, MAX_TIMER_MS)),
  wholeMs: rules.preset(30_000, rules.whole(1, MAX_TIMER_MS)),
  budget: rules.preset({}, rules.nested(BUDGET_RULES)),
  egress: rules.preset({}, rules.nested(EGRESS_RULES)),
  greylistMs: rules.preset(300_000, rules.whole(1, MAX_TIMER_MS)),
  routeTtlMs: rules.preset(600_000, rules.whole(1, MAX_TIMER_MS)),
  acceptsAllTtlMs: rules.preset(86_400_000, rules.whole(1, MAX_TIMER_MS)),
  cache: shapes.keyValue,
  secret: rules.secretText("a text that is not empty"),
  now: rules.preset(() => Date.now(), rules.fn()),
  onError: rules.preset(() => undefined, rules.fn()),
} satisfies RuleTable<MailProberOptions>;

/** {@link MailProberOptions}, checked and complete. */
export type ProberSettings = Omit<
  Checked<MailProberOptions, typeof PROBER_RULES>,
  "smtp" | "dnsServers" | "forbidden"
> & {
  smtp: SmtpIdentity | null;
  dnsServers: readonly string[] | null;
  forbidden: BlockList;
};

/** Throws a `TypeError` that says what is wrong. */
export function readProberOptions(options: MailProberOptions): ProberSettings {
  const {
    smtp = null,
    dnsServers = null,
    forbidden,
    ...others
  } = checkOptions("createMailProber", options, PROBER_RULES);
  return { ...others, smtp, dnsServers, forbidden: forbidden ?? specialAddresses() };
}

function isServerAddress(server: string): boolean {
  return isIP(server.replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, "$1$3")) !== 0;
}
