/** A successful reply of the lookup, as on the wire. */
export interface LookupResult<Data, Meta> {
  data: Data;
  meta: Meta;
}

export type AddressType = "personal" | "generic";
export type Seniority = "junior" | "senior" | "executive";
export type Department =
  | "executive"
  | "it"
  | "finance"
  | "management"
  | "sales"
  | "legal"
  | "support"
  | "hr"
  | "marketing"
  | "communication"
  | "education"
  | "design"
  | "health"
  | "operations";

/** A fact that an address can be required to have. `full_name`: a first and a last name. */
export type RequiredField = "full_name" | "position" | "phone_number";

export type VerificationStatus = EmailVerification["status"];

/** The latest verdict on an address; both `null` if it was never verified. */
export interface VerificationEntry {
  /** `YYYY-MM-DD`, UTC. */
  date: string | null;
  status: VerificationStatus | null;
}

/** A page on which an address was found. Dates are `YYYY-MM-DD`; both are `null` if they are unknown. */
export interface SourceEntry {
  domain: string;
  uri: string;
  extracted_on: string | null;
  last_seen_on: string | null;
  still_on_page: boolean;
}

/**
 * Profiles of a person: identifier and URL on a professional network, handle on a short-message network. If the service renames
 * these fields, pass the names as type parameters of `createLookupClient`.
 */
export type NetworkFields<A extends string, B extends string> = Record<A | `${A}_url` | B, string | null>;

/** An address of a domain with its person. Unknown fields are `null`. */
export type EmailEntry<A extends string = "network_a", B extends string = "network_b"> = NetworkFields<
  A,
  B
> & {
  /** The email address. */
  value: string;
  type: AddressType;
  /** Probability in percent that the address is right: 0 to 100. */
  confidence: number;
  /** At most 20 sources. */
  sources: SourceEntry[];
  first_name: string | null;
  last_name: string | null;
  position: string | null;
  seniority: Seniority | null;
  department: Department | null;
  phone_number: string | null;
  verification: VerificationEntry;
};

/** For an unknown domain, all fields except the domain and the lists are `null` or `false`. */
export interface DomainSearch<A extends string = "network_a", B extends string = "network_b"> {
  /** The requested domain; `null` for an unknown company. */
  domain: string | null;
  webmail: boolean;
  disposable: boolean;
  /** Whether its mail server accepts any address, as the last verification found. */
  accept_all: boolean;
  /** Pattern of addresses, e.g. `"{first}.{last}"`. */
  pattern: string | null;
  organization: string | null;
  /** Other known domains of the organisation, sorted: at most 100. */
  linked_domains: string[];
  /** Sorted by confidence, highest first, then by address. */
  emails: EmailEntry<A, B>[];
}

export interface DomainSearchMeta {
  /** Total number of addresses that paging returns. */
  results: number;
  limit: number;
  offset: number;
  params: {
    domain: string | null;
    company: string | null;
    type: AddressType | null;
    offset: number | null;
    /** Comma-separated list. */
    seniority: string | null;
    department: string | null;
    required_field: string | null;
    verification_status: string | null;
    job_titles: string | null;
  };
}

/** Without enough evidence, `email` is `null` and `score` is 0. */
export type FoundEmail<A extends string = "network_a", B extends string = "network_b"> = NetworkFields<
  A,
  B
> & {
  first_name: string;
  last_name: string;
  email: string | null;
  /** Probability in percent that the address is right: 0 to 100. */
  score: number;
  domain: string | null;
  accept_all: boolean;
  position: string | null;
  phone_number: string | null;
  company: string | null;
  verification: VerificationEntry;
  sources: SourceEntry[];
};

export interface FoundEmailMeta {
  params: {
    first_name: string | null;
    last_name: string | null;
    full_name: string | null;
    domain: string | null;
    company: string | null;
    /** In seconds. */
    max_duration: number | null;
  };
}

/** The reason for an uncertain or negative verdict. */
export type VerdictReason =
  | "not_an_address"
  | "no_local"
  | "quoted_local"
  | "local_syntax"
  | "local_length"
  | "address_literal"
  | "domain_syntax"
  | "address_length"
  | "null_mx"
  | "no_lists"
  | "no_mail_server"
  | "user_unknown"
  | "mailbox_full"
  | "mailbox_disabled"
  | "accepts_all"
  | "policy"
  | "greylisted"
  | "temporary"
  | "no_connection"
  | "timeout"
  | "ascii_only"
  | "protocol"
  | "forbidden_address"
  | "port_25_blocked"
  | "budget"
  | "not_probed"
  | "dns_failure"
  | "dns_untrusted";

/** A verdict. `false` also means that a fact could not be confirmed. */
export interface EmailVerification {
  result: "deliverable" | "undeliverable" | "risky";
  status: "valid" | "invalid" | "accept_all" | "webmail" | "disposable" | "unknown";
  /** 0 to 100. */
  score: number;
  /** The address as requested. */
  email: string;
  /** Whether the address has valid syntax. */
  regexp: boolean;
  gibberish: boolean;
  disposable: boolean;
  /** Whether this is a privacy alias: its mail is forwarded to a mailbox that is read. */
  alias: boolean;
  webmail: boolean;
  mx_records: boolean;
  smtp_server: boolean;
  smtp_check: boolean;
  accept_all: boolean;
  /** Whether the mail server rejects probes from the service. */
  block: boolean;
  reason: VerdictReason | null;
  /** The address probably meant; `null` without a suggestion. */
  suggestion: string | null;
  sources: SourceEntry[];
}

export interface EmailVerificationMeta {
  params: { email: string };
}

/** A list of addresses that the service verifies in the background. */
export interface VerificationList {
  id: string;
  /** Number of addresses. */
  total: number;
  /** Number of addresses with a result. */
  done: number;
  status: "queued" | "running" | "done";
}

/** An address of a list without a verdict. */
export interface UnverifiedAddress {
  result: null;
  /**
   * `null`: not verified yet. `not_paid`: the account had no points left. `claimed`: the owner of the address opted out of
   * the lookup.
   */
  status: null | "not_paid" | "claimed";
  score: null;
  email: string;
}

/** An address of a list. A verdict has no sources. */
export type ListedVerification = Omit<EmailVerification, "sources"> | UnverifiedAddress;

export interface VerificationPage extends VerificationList {
  results: ListedVerification[];
}

export interface VerificationPageMeta {
  /** Number of addresses on all pages. */
  results: number;
  offset: number;
  limit: number;
}

export interface EmailCount {
  total: number;
  personal_emails: number;
  generic_emails: number;
  department: Record<Department, number>;
  seniority: Record<Seniority, number>;
}

export interface EmailCountMeta {
  params: { domain: string | null; company: string | null; type: AddressType | null };
}

export interface Account {
  first_name: string | null;
  last_name: string | null;
  email: string;
  /** E.g. `"Free"`. */
  plan_name: string;
  plan_level: number;
  /** Date on which the allowance resets: `YYYY-MM-DD`, UTC. */
  reset_date: string;
  team_id: number;
  /** Searches and verifications together. An unlimited allowance is 1,000,000,000. */
  calls: Allowance;
  requests: { searches: Allowance; verifications: Allowance };
}

export interface Allowance {
  used: number;
  available: number;
}

export interface AccountMeta {
  params: Record<never, never>;
}
