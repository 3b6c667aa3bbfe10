// Email lookup: service, library, contracts, and parsers of names, addresses and titles.
export type * from "./contracts/accounts.ts";
export type * from "./contracts/contact-source.ts";
export {
  DEPARTMENTS,
  MAX_EVIDENCE,
  MAX_LINKED_DOMAINS,
  REQUIRED_FIELDS,
  SENIORITIES,
  VERIFICATION_STATUSES,
  verifiedConfidence,
} from "./contracts/contact-source.ts";
export type * from "./contracts/mail-prober.ts";
export type { SuppressionList } from "./contracts/suppression-list.ts";
export type * from "./contracts/verification-queue.ts";
export { hashApiKey } from "./lookup/accounts/api-key.ts";
export { isGibberish } from "./lookup/address/is-gibberish.ts";
export { isRoleName } from "./lookup/address/is-role-name.ts";
export { isMailDomain, normaliseDomain } from "./lookup/address/mail-domain.ts";
export type { AddressFault, ParsedAddress } from "./lookup/address/parse-address.ts";
export { addressFault, normaliseAddress, parseAddress } from "./lookup/address/parse-address.ts";
export type * from "./lookup/answers.ts";
export { csvLine } from "./lookup/csv-field.ts";
export type {
  LookupCallOptions,
  LookupLibrary,
  VerificationListOptions,
  VerifyEmailOptions,
} from "./lookup/library.ts";
export type { Lookup } from "./lookup/lookup.ts";
export { createLookup } from "./lookup/lookup.ts";
export type { LookupAdmin, NewAccount } from "./lookup/lookup-admin.ts";
export type { LookupKeys } from "./lookup/lookup-keys.ts";
export { deriveLookupKeys } from "./lookup/lookup-keys.ts";
export type { LookupOptions, PlanAllowance } from "./lookup/lookup-options.ts";
export type { LookupProblemId } from "./lookup/lookup-problem.ts";
export { isLookupProblem, LookupProblem } from "./lookup/lookup-problem.ts";
export { LOOKUP_RULES } from "./lookup/lookup-settings.ts";
export { createMemoryAccounts } from "./lookup/memory/memory-accounts.ts";
export type {
  MemoryContactSource,
  MemoryContactSourceOptions,
} from "./lookup/memory/memory-contact-source.ts";
export { createMemoryContactSource } from "./lookup/memory/memory-contact-source.ts";
export { createMemorySuppressionList } from "./lookup/memory/memory-suppression-list.ts";
export { createMemoryVerificationQueue } from "./lookup/memory/memory-verification-queue.ts";
export { isSalutation } from "./lookup/names/is-salutation.ts";
export type { NameFault } from "./lookup/names/name-fault.ts";
export { nameFault } from "./lookup/names/name-fault.ts";
export { normaliseName } from "./lookup/names/normalise-name.ts";
export type { PersonName } from "./lookup/names/parse-full-name.ts";
export { parseFullName } from "./lookup/names/parse-full-name.ts";
export { compareNames, namesakes, spellingKey, spellingKeys } from "./lookup/names/same-name.ts";
export type { DomainSearchParameters } from "./lookup/operations/domain-search.ts";
export type { EmailCountParameters } from "./lookup/operations/email-count.ts";
export type { EmailFinderParameters } from "./lookup/operations/email-finder.ts";
export type { LookupAnswer } from "./lookup/operations/operation.ts";
export type { SubjectParameters } from "./lookup/operations/subject.ts";
export type { Candidate, PatternPrior } from "./lookup/patterns/candidates-for.ts";
export { candidatesFor, DEFAULT_PRIOR } from "./lookup/patterns/candidates-for.ts";
export type { PatternShare } from "./lookup/patterns/default-patterns.ts";
export type { NamedLocal } from "./lookup/patterns/learn-patterns.ts";
export { learnPatterns } from "./lookup/patterns/learn-patterns.ts";
export { haveSameMarkers } from "./lookup/suppression-markers.ts";
export type { Suppressed, Suppressions, SuppressionsOptions } from "./lookup/suppressions.ts";
export { createSuppressions } from "./lookup/suppressions.ts";
export type { TitleClass } from "./lookup/titles/classify-title.ts";
export { classifyTitle } from "./lookup/titles/classify-title.ts";
export { titleKey } from "./lookup/titles/title-key.ts";
