import type {
  DomainSearchParameters as CoreDomainSearchParameters,
  EmailEntry as CoreEmailEntry,
  DomainSearchAnswer,
  EmailCountAnswer,
  EmailFinderAnswer,
  EmailVerification,
  EmailVerifierAnswer,
  LookupAnswer,
  VerificationListAnswer,
} from "@outrigger/core";
import type {
  AddressType,
  Department,
  RequiredField,
  Seniority,
  VerificationStatus,
} from "@outrigger/core/lookup";

// The build copies the types of core into the declarations of this package, which depends on no other.
export type { AddressType, Department, EmailVerification, RequiredField, Seniority, VerificationStatus };

/** A successful reply of the lookup, as on the wire. */
export type LookupResult<Data, Meta> = LookupAnswer<Data, Meta>;

/**
 * Profiles of a person: identifier and URL on a professional network, handle on a short-message network. If the service renames
 * these fields, pass the names as type parameters of `createLookupClient`.
 */
export type NetworkFields<A extends string, B extends string> = Record<A | `${A}_url` | B, string | null>;

/** An answer with the names of the service for the profiles of a person. */
type WithNetworks<Entry, A extends string, B extends string> = Omit<
  Entry,
  "network_a" | "network_a_url" | "network_b"
> &
  NetworkFields<A, B>;

export type DomainSearch<A extends string = "network_a", B extends string = "network_b"> = Omit<
  DomainSearchAnswer["data"],
  "emails"
> & {
  /** Sorted by confidence, highest first, then by address. */
  emails: EmailEntry<A, B>[];
};
export type DomainSearchMeta = DomainSearchAnswer["meta"];
/** An address of a domain with its person. Unknown fields are `null`. */
export type EmailEntry<A extends string = "network_a", B extends string = "network_b"> = WithNetworks<
  CoreEmailEntry,
  A,
  B
>;
export type SourceEntry = CoreEmailEntry["sources"][number];
export type VerificationEntry = CoreEmailEntry["verification"];

/** Without enough evidence, `email` is `null` and `score` is 0. */
export type FoundEmail<A extends string = "network_a", B extends string = "network_b"> = WithNetworks<
  EmailFinderAnswer["data"],
  A,
  B
>;
export type FoundEmailMeta = EmailFinderAnswer["meta"];

/** The reason for an uncertain or negative verdict. */
export type VerdictReason = NonNullable<EmailVerification["reason"]>;
export type EmailVerificationMeta = EmailVerifierAnswer["meta"];

/** A list of addresses that the service verifies in the background, with a page of its results. */
export type VerificationPage = VerificationListAnswer["data"];
export type VerificationPageMeta = VerificationListAnswer["meta"];
export type VerificationList = Omit<VerificationPage, "results">;
/** An address of a list. A verdict has no sources. */
export type ListedVerification = VerificationPage["results"][number];
export type UnverifiedAddress = Extract<ListedVerification, { result: null }>;

export type EmailCount = EmailCountAnswer["data"];
export type EmailCountMeta = EmailCountAnswer["meta"];

/** Lists may be one word. */
type OneOrMany<Parameters> = {
  [Name in keyof Parameters]?:
    | Parameters[Name]
    | (NonNullable<Parameters[Name]> extends readonly (infer One)[] ? One : never)
    | undefined;
};

/** The organisation by its domain or its name, and which of its addresses. The domain takes precedence. */
export type DomainSearchParameters = OneOrMany<CoreDomainSearchParameters>;
/** The organisation: its domain or its name. The domain takes precedence. */
export type SubjectParameters = Pick<DomainSearchParameters, "domain" | "company">;

export interface Allowance {
  used: number;
  available: number;
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

export interface AccountMeta {
  params: Record<never, never>;
}
