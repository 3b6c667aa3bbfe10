import type { AddressType, Department, Seniority, VerificationStatus } from "../contracts/contact-source.ts";
import type { LookupAnswer } from "./operations/operation.ts";
import type { Verdict } from "./verify/verdict.ts";

/** A page on which an address was found. Dates are `YYYY-MM-DD`, UTC; both are `null` if they are unknown. */
export interface SourceEntry {
  domain: string;
  uri: string;
  extracted_on: string | null;
  last_seen_on: string | null;
  still_on_page: boolean;
}

/** The profiles of a person, by their default field names. The option `networkNames` renames the fields. */
export interface NetworkFields {
  network_a?: string | null;
  network_a_url?: string | null;
  network_b?: string | null;
}

/** The latest verdict on an address; both `null` if it was never verified. */
export interface VerificationEntry {
  /** `YYYY-MM-DD`, UTC. */
  date: string | null;
  status: VerificationStatus | null;
}

/** An address of a domain. `null` for an unknown field. */
export interface EmailEntry extends NetworkFields {
  /** The address. */
  value: string;
  type: AddressType;
  /** The probability that the address is correct, 0 to 100 percent. */
  confidence: number;
  /** At most 20. */
  sources: SourceEntry[];
  first_name: string | null;
  last_name: string | null;
  position: string | null;
  seniority: Seniority | null;
  department: Department | null;
  phone_number: string | null;
  verification: VerificationEntry;
  /** The same as `position`. */
  position_raw: string | null;
}

type UnknownFact =
  | ("description" | "industry" | "facebook" | "instagram" | "youtube" | "headcount" | "company_type")
  | ("country" | "state" | "city" | "postal_code" | "street");

/** Facts about an organisation that contacts do not tell: `null`, and no technologies. Clients of the public API read them. */
export type OrganizationFields = Omit<NetworkFields, "network_a_url"> &
  Record<UnknownFact, string | null> & { technologies: string[] };

/** The addresses of a domain. */
export type DomainSearchAnswer = LookupAnswer<
  OrganizationFields & {
    /** The requested domain; `null` for an unknown company. */
    domain: string | null;
    /** Without `lists`, `webmail` and `disposable` are `false`, which confirms nothing. */
    webmail: boolean;
    /** The most frequent pattern of addresses, e.g. `{first}.{last}`. */
    pattern: string | null;
    organization: string | null;
    /** Ordered by confidence, highest first; equal ones by address. */
    emails: EmailEntry[];
    disposable: boolean;
    /** Whether its server accepts mail for any address, as the last verification found. */
    accept_all: boolean;
    /** Other known domains of the organisation, sorted: at most 100. */
    linked_domains: string[];
  },
  {
    /** Number of addresses on all pages. */
    results: number;
    /** Smaller than requested if the account's allowance shortened the page. */
    limit: number;
    offset: number;
    params: {
      domain: string | null;
      company: string | null;
      type: AddressType | null;
      offset: number | null;
      /** Several values are separated by commas. */
      seniority: string | null;
      department: string | null;
      required_field: string | null;
      verification_status: string | null;
      job_titles: string | null;
    };
  }
>;

/**
 * The address of a person. If none is known and no guess is likely enough, `email` is `null` and `score` is
 * 0.
 */
export type EmailFinderAnswer = LookupAnswer<
  NetworkFields & {
    first_name: string;
    last_name: string;
    email: string | null;
    /** The probability that the address is correct, 0 to 100 percent. */
    score: number;
    domain: string | null;
    accept_all: boolean;
    position: string | null;
    phone_number: string | null;
    company: string | null;
    verification: VerificationEntry;
    sources: SourceEntry[];
  },
  {
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
>;

/** A verdict on an address. A boolean `false` may also mean "not confirmed". */
export interface EmailVerification extends Verdict {
  /** As the caller wrote it. */
  email: string;
  /** Whether the address is syntactically valid. */
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
  /** Whether the mail server rejects this prober. */
  block: boolean;
  /** The address that was probably meant; `null` if there is no suggestion. */
  suggestion: string | null;
  sources: SourceEntry[];
}

/** A verification that takes longer than `maxDurationMs`: repeat the call later. */
export interface PendingVerification {
  result: null;
  status: null;
  score: null;
  email: string;
}

/** Whether an address accepts mail. `data.status` is `null` while the verification is in progress. */
export type EmailVerifierAnswer = LookupAnswer<
  EmailVerification | PendingVerification,
  { params: { email: string } }
>;

/** The number of known addresses of a domain. */
export type EmailCountAnswer = LookupAnswer<
  {
    total: number;
    personal_emails: number;
    generic_emails: number;
    department: Record<Department, number>;
    seniority: Record<Seniority, number>;
  },
  { params: { domain: string | null; company: string | null; type: AddressType | null } }
>;

/** Points of a month. An unlimited allowance is 1,000,000,000. */
export interface Allowance {
  used: number;
  available: number;
}

/** The usage and the allowance of an account. */
export type AccountAnswer = LookupAnswer<
  {
    first_name: string | null;
    last_name: string | null;
    email: string | null;
    /** E.g. `"Free"`. */
    plan_name: string;
    plan_level: number;
    /** Date on which the allowance resets: `YYYY-MM-DD`, UTC. */
    reset_date: string;
    team_id: number;
    /** Searches and verifications together. */
    calls: Allowance;
    requests: { searches: Allowance; verifications: Allowance };
  },
  { params: Record<never, never> }
>;
