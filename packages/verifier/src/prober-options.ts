import type { BlockList } from "node:net";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { checkOptions, rules, shapes, specialAddresses } from "@outrigger/core/stores";

/** The mail host to which `connect` opens a connection. */
export interface ConnectTarget {
  /** An IP address, which has been checked against `forbidden`. The connection must be to this address. */
  address: string;
  port: number;
  /** The host's name, for logs. The name may resolve to an address that was not checked. */
  hostName: string;
  /** Aborts after 5 s, and with the probe. */
  signal: AbortSignal;
}

const HELO = /^(?=.{4,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
const MAIL_FROM = /^(?:[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+)?$/i;

const IDENTITY_RULES = {
  /** Full name of this machine, with a dot. It should resolve to the machine's address and back. */
  helo: rules.required(rules.text("a full host name, such as mail.example.com", (name) => HELO.test(name))),
  /** An address that accepts mail; `""` is the null sender `<>`. */
  mailFrom: rules.required(rules.text("an ASCII address or empty", (from) => MAIL_FROM.test(from))),
};

/** Identity towards mail servers. Both names should exist: postmasters send complaints there. */
export interface SmtpIdentity extends rules.Options<typeof IDENTITY_RULES> {}

/** The options of `createMailProber`. */
export const PROBER_RULES = {
  /** Identity towards mail servers. Without it, only the DNS is queried. @default none */
  smtp: rules.nested(IDENTITY_RULES),
  /**
   * Addresses of DNS resolvers, with a port unless it is 53: `["192.0.2.53", "[2001:db8::53]:5353"]`.
   * @default the machine's
   */
  dnsServers: rules.texts("a list of IP addresses with or without a port", isServerAddress),
  /**
   * Opens the connection to a mail host, e.g. through a SOCKS proxy. Returns a connected stream, or a connecting
   * `net.Socket`. A failure counts as one of the mail host. A stream returned after the signal aborted is destroyed.
   * @default a direct connection
   */
  connect: rules.fn<(target: ConnectTarget) => Duplex | Promise<Duplex>>(),
  /** Addresses that are never contacted. @default `specialAddresses()`: all outside the public internet */
  forbidden: rules.shape<BlockList>("a BlockList of node:net", "check", "addAddress"),
  /**
   * Cache of mail hosts, of domains that accept all and of greylisted questions.
   * @default in memory, up to 100,000 entries
   */
  cache: shapes.keyValue,
  /**
   * Secret of the HMAC that hides addresses in keys of the cache. Processes that share the cache need the same.
   * @default random
   */
  secret: rules.secretText("a text that is not empty"),
  /** Receives errors of the cache; the probe continues without it. @default ignored */
  onError: rules.preset(() => undefined, rules.fn<(error: unknown) => void>()),
};

export interface MailProberOptions extends rules.Options<typeof PROBER_RULES> {}

/**
 * Rule by which outgoing port 25 counts as blocked: several hosts do not answer, and the mail hosts of the `mailFrom`
 * domain do not either. Without an MX of that domain, port 25 never counts as blocked.
 */
export interface EgressRule {
  /**
   * Number of hosts, of as many domains, that do not answer while no connection succeeds. A refused connection is an
   * answer.
   */
  hosts: number;
  /** Time window of these failures, in milliseconds. */
  windowMs: number;
  /**
   * While port 25 counts as blocked, probes end at once with `port_25_blocked`. After each pause, in milliseconds, the
   * mail hosts of the `mailFrom` domain are tried again.
   */
  pauseMs: number;
}

/** Limits of the load on one mail host, by its address. */
export interface HostBudget {
  /** Maximum number of concurrent sessions. */
  sessions: number;
  /** Mailboxes asked about in any 60 seconds, from 2. A denied mailbox counts as two, because of its control. */
  questionsPerMinute: number;
  /**
   * How long a probe waits in line, in milliseconds. A probe that would wait longer, or behind 1000 others, ends with
   * `budget` at once. The line serves accounts alternately.
   */
  maxWaitMs: number;
}

/** Limits that no operator sets. */
export interface ProberLimits {
  /** Port of mail servers. */
  port: number;
  budget: HostBudget;
  /** Time limit of each complete reply, in milliseconds. RFC 5321 recommends minutes. */
  replyMs: number;
  /** Wait before a greylisted question is repeated, unless the server names one, in milliseconds. */
  greylistMs: number;
  /** Clock, in Unix milliseconds. */
  now: () => number;
  /** Maximum number of mail hosts of a domain that are considered, in order of preference. */
  maxHosts: number;
  /** Time limit of all DNS queries about a domain, in milliseconds. */
  dnsMs: number;
  /** Time limit of connecting, in milliseconds. */
  connectMs: number;
  egress: EgressRule;
  /** How long the mail hosts of a domain, or their absence, are cached, in milliseconds. Failures are never cached. */
  routeTtlMs: number;
  /** How long the verdict whether a domain accepts all is cached, in milliseconds. */
  acceptsAllTtlMs: number;
}

const LIMITS: ProberLimits = {
  port: 25,
  budget: { sessions: 2, questionsPerMinute: 30, maxWaitMs: 600_000 },
  replyMs: 10_000,
  greylistMs: 300_000,
  now: () => Date.now(),
  maxHosts: 5,
  dnsMs: 5000,
  connectMs: 5000,
  egress: { hosts: 5, windowMs: 300_000, pauseMs: 600_000 },
  routeTtlMs: 600_000,
  acceptsAllTtlMs: 86_400_000,
};

/** {@link MailProberOptions}, checked and complete, with the limits. */
export type ProberSettings = Omit<rules.Checked<typeof PROBER_RULES>, "smtp" | "dnsServers" | "forbidden"> & {
  smtp: SmtpIdentity | null;
  dnsServers: readonly string[] | null;
  forbidden: BlockList;
} & ProberLimits;

/** Checks options, adds defaults and limits. Throws a `TypeError` that names the invalid option. */
export function readProberOptions(options: MailProberOptions): ProberSettings {
  const {
    smtp = null,
    dnsServers = null,
    forbidden,
    ...others
  } = checkOptions("createMailProber", options, PROBER_RULES);
  return { ...LIMITS, ...others, smtp, dnsServers, forbidden: forbidden ?? specialAddresses() };
}

function isServerAddress(server: string): boolean {
  return isIP(server.replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, "$1$3")) !== 0;
}
