/** What the DNS says of a domain's mail. */
export type MailRouting =
  /** It has hosts for mail, or an address of its own to fall back on (RFC 5321 §5.1). */
  | "found"
  /** The domain does not exist, or nothing is there that takes mail. */
  | "none"
  /** It says that it takes no mail (RFC 7505). */
  | "null_mx"
  /** It could not be asked. */
  | "unknown";

/** Why nothing more is known of a mailbox, or why it was refused. */
export type ProbeReason =
  /** The mailbox does not exist, says its server. */
  | "user_unknown"
  /** The mailbox exists and is full or disabled, says its server. */
  | "mailbox_full"
  | "mailbox_disabled"
  /** The server takes any address of the domain. */
  | "accepts_all"
  /** The server refuses us, whoever the mail is for: by our address, our name, or a list. */
  | "policy"
  /** Greylisting: the same question later may be answered. */
  | "greylisted"
  /** The server has trouble of its own for now. */
  | "temporary"
  /** No host could be connected to. */
  | "no_connection"
  | "timeout"
  /** Its server takes no names beyond ASCII (RFC 6531). */
  | "ascii_only"
  /** What came was not SMTP. */
  | "protocol"
  /** Every host is in a range that must not be connected to. */
  | "forbidden_address"
  /** This machine cannot connect to port 25 of anybody. */
  | "port_25_blocked"
  /** So many questions to this host are being asked that it is spared. */
  | "budget"
  /** Only the DNS was asked: probing is off. */
  | "not_probed"
  | "dns_failure";

/** What was found out about an address. Remote trouble is a result, never an error. */
export interface ProbeResult {
  routing: MailRouting;
  /** Whether a host of the domain spoke SMTP with us; `false`: asked, and none did; `null`: none was asked. */
  server: boolean | null;
  /**
   * Whether the mailbox takes mail; `null`: not known. `false` also where `routing` is `none` or `null_mx`. `true` with an
   * `acceptsAll` of `null`: it was taken, and `reason` tells why it is open whether any other would be.
   */
  mailbox: boolean | null;
  /** Whether the domain takes mail for any name; `null`: not known. */
  acceptsAll: boolean | null;
  /** `null` where all is known and well. */
  reason: ProbeReason | null;
  /** Milliseconds after which to ask again is of use; `null` where nothing is expected of it. */
  retryAfterMs: number | null;
}

/** Asks the DNS, and where that is wanted the mail hosts themselves, without ever sending mail. */
export interface MailProber {
  /**
   * @param local the part before the `@`: of a grammar that {@link parseAddress} admits, without CR, LF, NUL, `<` and `>`.
   * @param domain lower-case A-labels.
   * @param options `smtp: false` asks only the DNS. When `signal` aborts, the result so far comes at once, with `timeout`. Each
   *   probe has a signal of its own.
   * Rejects with a `TypeError` for what could not be in a command, and with `store_unavailable` once it is closed.
   */
  probe(local: string, domain: string, options: { smtp: boolean; signal: AbortSignal }): Promise<ProbeResult>;
  /** Forgets what is remembered of an address. Absent where nothing is. */
  forget?(local: string, domain: string): Promise<void>;
  close(): Promise<void>;
}

/** Lists of domains, each layer of which an operator may replace or add to. */
export interface MailLists {
  /** Whether anybody can have an address there. */
  isWebmail(domain: string): boolean;
  /** Whether addresses there are thrown away after use. */
  isDisposable(domain: string): boolean;
  /** The domain that was probably meant; `null` where none suggests itself. */
  suggestDomain(domain: string): string | null;
}
