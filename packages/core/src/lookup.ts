// The email lookup from inside: the contracts of its data and mail servers, and parsers of names, addresses and titles.
export type {
  Account,
  AccountKey,
  Accounts,
  Charge,
  ReserveResult,
} from "./contracts/accounts.ts";
export { RESERVATION_MS } from "./contracts/accounts.ts";
export type {
  AddressType,
  Contact,
  ContactCounts,
  ContactEvidence,
  ContactFilter,
  ContactPage,
  ContactSource,
  ContactVerification,
  Department,
  DomainFacts,
  PatternCount,
  RequiredField,
  Seniority,
  VerificationStatus,
} from "./contracts/contact-source.ts";
export {
  DEPARTMENTS,
  MAX_EVIDENCE,
  MAX_LINKED_DOMAINS,
  REQUIRED_FIELDS,
  SENIORITIES,
  VERIFICATION_STATUSES,
  verifiedConfidence,
} from "./contracts/contact-source.ts";
export type { MailLists, MailProber, ProbeReason, ProbeResult } from "./contracts/mail-prober.ts";
export type { SuppressionList } from "./contracts/suppression-list.ts";
export { hashApiKey } from "./lookup/accounts/api-key.ts";
export { isGibberish } from "./lookup/address/is-gibberish.ts";
export { isRoleName } from "./lookup/address/is-role-name.ts";
export { isPrivateDomain, normaliseDomain, organizationDomain } from "./lookup/address/mail-domain.ts";
export { addressFault, parseAddress } from "./lookup/address/parse-address.ts";
export { type Mailbox, parseMailboxes } from "./lookup/address/parse-mailboxes.ts";
export { csvLine } from "./lookup/csv-field.ts";
export type { LookupKeys } from "./lookup/lookup-keys.ts";
export { deriveLookupKeys } from "./lookup/lookup-keys.ts";
export { LOOKUP_RULES } from "./lookup/lookup-options.ts";
export { isSalutation } from "./lookup/names/is-salutation.ts";
export { nameFault } from "./lookup/names/name-fault.ts";
export { firstSurname, nameKey } from "./lookup/names/name-key.ts";
export { normaliseName } from "./lookup/names/normalise-name.ts";
export {
  linkedName,
  organizationKey,
  organizationPrefix,
  organizationRank,
} from "./lookup/names/organization-key.ts";
export { parseFullName } from "./lookup/names/parse-full-name.ts";
export { profileHandle, profileUrl } from "./lookup/names/profiles.ts";
export { compareNames, namesakes, spellingKey, spellingKeys } from "./lookup/names/same-name.ts";
export { candidatesFor } from "./lookup/patterns/candidates-for.ts";
export { learnPatterns, MAX_LEARNED_FROM, namedLocal } from "./lookup/patterns/learn-patterns.ts";
export { haveSameMarkers } from "./lookup/suppression-markers.ts";
export type { Suppressions } from "./lookup/suppressions.ts";
export { createSuppressions } from "./lookup/suppressions.ts";
export type { TitleClass } from "./lookup/titles/classify-title.ts";
export { classifyTitle } from "./lookup/titles/classify-title.ts";
export { titleKey } from "./lookup/titles/title-key.ts";
