/** A success of the lookup, as it is on the wire. */
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

/** A page on which an address was found. Dates are `YYYY-MM-DD`. */
export interface SourceEntry {
  domain: string;
  uri: string;
  extracted_on: string;
  last_seen_on: string;
  still_on_page: boolean;
}

/**
 * Somebody's profiles: identifier and URL on a professional network, handle on a short-message network. A service can give
 * these fields other names; then they are the type parameters of `createLookupClient`.
 */
export type NetworkFields<A extends string, B extends string> = Record<A | `${A}_url` | B, string | null>;

/** An address of a domain, and whose it is. What is not known is `null`. */
export type EmailEntry<A extends string = "network_a", B extends string = "network_b"> = NetworkFields<
  A,
  B
> & {
  /** The address. */
  value: string;
  type: AddressType;
  /** That the address is right: 0 to 100. */
  confidence: number;
  /** At most 20. */
  sources: SourceEntry[];
  first_name: string | null;
  last_name: string | null;
  position: string | null;
  seniority: Seniority | null;
  department: Department | null;
  phone_number: string | null;
};

/** All but the list is `null` or `false` for a domain that is not known. */
export interface DomainSearch<A extends string = "network_a", B extends string = "network_b"> {
  domain: string | null;
  webmail: boolean;
  disposable: boolean;
  /** How addresses are formed, e.g. `"{first}.{last}"`. */
  pattern: string | null;
  organization: string | null;
  /** The surest first, then by address. */
  emails: EmailEntry<A, B>[];
}

export interface DomainSearchMeta {
  /** What paging can return in all. */
  results: number;
  limit: number;
  offset: number;
  params: {
    domain: string | null;
    company: string | null;
    type: AddressType | null;
    offset: number | null;
    /** Several with commas. */
    seniority: string | null;
    department: string | null;
  };
}

/** `email` is `null`, and `score` 0, where nothing can be said. */
export type FoundEmail<A extends string = "network_a", B extends string = "network_b"> = NetworkFields<
  A,
  B
> & {
  first_name: string;
  last_name: string;
  email: string | null;
  /** That the address is right: 0 to 100. */
  score: number;
  domain: string | null;
  accept_all: boolean;
  position: string | null;
  phone_number: string | null;
  company: string | null;
  sources: SourceEntry[];
};

export interface FoundEmailMeta {
  params: {
    first_name: string | null;
    last_name: string | null;
    full_name: string | null;
    domain: string | null;
    company: string | null;
  };
}

/** Why a verdict is not certain, or why it is no. */
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
  | "dns_failure";

/** A verdict. A boolean that is `false` may also say that it could not be confirmed. */
export interface EmailVerification {
  result: "deliverable" | "undeliverable" | "risky";
  status: "valid" | "invalid" | "accept_all" | "webmail" | "disposable" | "unknown";
  /** 0 to 100. */
  score: number;
  /** As it was asked for. */
  email: string;
  /** Whether it is of the grammar of addresses. */
  regexp: boolean;
  gibberish: boolean;
  disposable: boolean;
  webmail: boolean;
  mx_records: boolean;
  smtp_server: boolean;
  smtp_check: boolean;
  accept_all: boolean;
  /** Whether the mail server refuses whoever asked. */
  block: boolean;
  reason: VerdictReason | null;
  /** The address that was probably meant; `null` for none. */
  suggestion: string | null;
  sources: SourceEntry[];
}

export interface EmailVerificationMeta {
  params: { email: string };
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
  /** From when on the month's allowance is whole again: `YYYY-MM-DD`, UTC. */
  reset_date: string;
  team_id: string;
  /** Searches and verifications together. An allowance without limit is 1,000,000,000. */
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
