import type { AddressType, Department, Seniority } from "../contracts/contact-source.ts";
import type { LookupAnswer } from "./operations/operation.ts";
import type { Verdict } from "./verify/verdict.ts";

/** A page on which an address was found. Dates are `YYYY-MM-DD`, UTC. */
export interface SourceEntry {
  domain: string;
  uri: string;
  extracted_on: string;
  last_seen_on: string;
  still_on_page: boolean;
}

/** The profiles of a person, by their default names. With `networkNames` the fields have the names that it gives them. */
export interface NetworkFields {
  network_a?: string | null;
  network_a_url?: string | null;
  network_b?: string | null;
}

/** An address of a domain. `null` for a field that is not known. */
export interface EmailEntry extends NetworkFields {
  /** The address. */
  value: string;
  type: AddressType;
  /** The probability that the address is right, 0 to 100 percent. */
  confidence: number;
  /** At most 20. */
  sources: SourceEntry[];
  first_name: string | null;
  last_name: string | null;
  position: string | null;
  seniority: Seniority | null;
  department: Department | null;
  phone_number: string | null;
}

/** The addresses of a domain. */
export type DomainSearchAnswer = LookupAnswer<
  {
    /** `null` for an unknown domain. */
    domain: string | null;
    webmail: boolean;
    disposable: boolean;
    /** How most addresses are formed, e.g. `{first}.{last}`. */
    pattern: string | null;
    organization: string | null;
    /** By confidence, the highest first; equal ones by address. */
    emails: EmailEntry[];
  },
  {
    /** Addresses on all pages together. */
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
>;

/** The address of a person. `email` is `null`, and `score` 0, where none is known and no guess can be defended. */
export type EmailFinderAnswer = LookupAnswer<
  NetworkFields & {
    first_name: string;
    last_name: string;
    email: string | null;
    /** The probability that the address is right, 0 to 100 percent. */
    score: number;
    domain: string | null;
    accept_all: boolean;
    position: string | null;
    phone_number: string | null;
    company: string | null;
    sources: SourceEntry[];
  },
  {
    params: {
      first_name: string | null;
      last_name: string | null;
      full_name: string | null;
      domain: string | null;
      company: string | null;
    };
  }
>;

/** A verdict on an address. A boolean that is `false` may also mean "not confirmed". */
export interface EmailVerification extends Verdict {
  /** As the caller wrote it. */
  email: string;
  /** Whether it is written as addresses are. */
  regexp: boolean;
  gibberish: boolean;
  disposable: boolean;
  webmail: boolean;
  mx_records: boolean;
  smtp_server: boolean;
  smtp_check: boolean;
  accept_all: boolean;
  /** Whether the mail server refuses this prober. */
  block: boolean;
  /** The address that was probably meant; `null` for none. */
  suggestion: string | null;
  sources: SourceEntry[];
}

/** A verification that takes longer than `maxDurationMs`: ask again later. */
export interface PendingVerification {
  result: null;
  status: null;
  score: null;
  email: string;
}

/** Whether an address takes mail. `data.status` is `null` while the verification is under way. */
export type EmailVerifierAnswer = LookupAnswer<
  EmailVerification | PendingVerification,
  { params: { email: string } }
>;

/** How many addresses of a domain are known. */
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
