/** A domain's mail routing according to the DNS. */
export type MailRouting =
  /** The domain has mail hosts, or an address record as fallback (RFC 5321 §5.1). */
  | "found"
  /** The domain does not exist, or has no host that accepts mail. */
  | "none"
  /** The domain declares that it accepts no mail (RFC 7505). */
  | "null_mx"
  /** The DNS could not be queried. */
  | "unknown";

/** Why the state of a mailbox is unknown, or why its server rejected it. */
export type ProbeReason =
  /** The server reports that the mailbox does not exist. */
  | "user_unknown"
  /** The server reports that the mailbox exists and is full or disabled. */
  | "mailbox_full"
  | "mailbox_disabled"
  /** The server accepts any address of the domain. */
  | "accepts_all"
  /** The server rejects this client for every recipient: by its address, its name, or a blocklist. */
  | "policy"
  /** Greylisting: the server may answer if the probe is repeated later. */
  | "greylisted"
  /** The server reports a temporary failure. */
  | "temporary"
  /** No connection to any host succeeded. */
  | "no_connection"
  | "timeout"
  /** The server does not support internationalised addresses (RFC 6531). */
  | "ascii_only"
  /** The server's reply was not SMTP. */
  | "protocol"
  /** Every host is in an address range that must not be connected to. */
  | "forbidden_address"
  /** This machine cannot connect to port 25 of any host. */
  | "port_25_blocked"
  /** This host's probe budget is used up, so it is not contacted. */
  | "budget"
  /** Only the DNS was queried: probing is off. */
  | "not_probed"
  | "dns_failure"
  /** The resolver denies even that the top-level domain exists, so that its denial of the domain does not count. */
  | "dns_untrusted";

/** The result of a probe. Remote failures are results, never errors. */
export interface ProbeResult {
  routing: MailRouting;
  /**
   * Whether a host of the domain spoke SMTP; `false`: hosts were contacted, and none did; `null`: no host was
   * contacted.
   */
  server: boolean | null;
  /**
   * Whether the mailbox accepts mail; `null`: unknown. Also `false` if `routing` is `none` or `null_mx`.
   * `true` with `acceptsAll: null`: the server accepted the address, and `reason` says why it is unknown
   * whether it accepts any other.
   */
  mailbox: boolean | null;
  /** Whether the domain accepts mail for any local part; `null`: unknown. */
  acceptsAll: boolean | null;
  /** `null` if everything is known and no check failed. */
  reason: ProbeReason | null;
  /** Milliseconds after which a repeated probe may help; `null` if none is expected to. */
  retryAfterMs: number | null;
  /** Whether a mail host of the domain belongs to a provider for businesses, so that the domain is hardly disposable. @default false */
  isBusinessMail?: boolean;
}

/** How a probe is made. */
export interface ProbeOptions {
  /** `false` queries only the DNS. */
  smtp: boolean;
  /** When it aborts, the promise resolves at once with the result so far and `timeout`. */
  signal: AbortSignal;
  /**
   * The account on whose behalf, any text. A line before a mail host serves accounts alternately, so that many
   * probes of one do not delay those of others. @default one account of all such probes
   */
  account?: string;
  /**
   * Called with an estimate of the remaining time, in milliseconds, when the probe begins to wait in line before a
   * mail host, and with `null` when it no longer waits.
   */
  onWait?: (waitMs: (() => number) | null) => void;
  /** Whether an address that was accepted before may serve as control. A rejection counts as `false`. @default none may */
  mayAsk?: (address: string) => Promise<boolean>;
}

/**
 * Queries the DNS and, if requested, the mail hosts themselves. Never sends mail. The lookup limits the time of a probe, and
 * probes an address once at a time.
 */
export interface MailProber {
  /**
   * @param local the part before the `@`, in a grammar that {@link parseAddress} accepts, without CR, LF,
   * NUL, `<` and `>`.
   * @param domain lower-case A-labels.
   * Rejects with a `TypeError` for a value that cannot be part of a command, and with `store_unavailable`
   * after `close`.
   */
  probe(local: string, domain: string, options: ProbeOptions): Promise<ProbeResult>;
  /** Deletes cached results of an address. Absent if the prober caches nothing. */
  forget?(local: string, domain: string): Promise<void>;
  close(): Promise<void>;
}

/** The domain that was probably meant; `null` if there is no suggestion. */
export interface MailLists {
  /** Whether the domain belongs to a public email provider. */
  isWebmail(domain: string): boolean;
  /** Whether addresses at this domain are disposable. */
  isDisposable(domain: string): boolean;
  /** Whether they are so even if {@link ProbeResult.isBusinessMail} says otherwise. Absent: all disposable ones. */
  isSurelyDisposable?(domain: string): boolean;
  /**
   * Whether addresses at this domain are privacy aliases: their mail is forwarded to a mailbox that is read. Absent if
   * the lists know none.
   */
  isAlias?(domain: string): boolean;
  /** The domain that was probably meant; `null` if there is no suggestion. */
  suggestDomain(domain: string): string | null;
}
