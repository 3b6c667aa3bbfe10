// Stores, and tools for authors of backends: contracts, optional abilities, checks of options.
export { abortable } from "./async/abortable.ts";
export { checkOptions, checkValue, optionProblems } from "./check-options.ts";
export * as shapes from "./contract-rules.ts";
export { RESERVATION_MS } from "./contracts/accounts.ts";
export type * from "./contracts/blob-store.ts";
export {
  hasBulkRemoval,
  hasJointAdoption,
  hasRangeListing,
  hasRevisionProbe,
  hasShardSampler,
  isBlobKey,
  isDirectReadable,
  isLocalStore,
} from "./contracts/blob-store.ts";
export type { DueEntry, DueIndex } from "./contracts/due-index.ts";
export { hasDueIndex, MAX_DUE_MS } from "./contracts/due-index.ts";
export type { Job, JobQueue } from "./contracts/job-queue.ts";
export type { KeyValue } from "./contracts/key-value.ts";
export type { LeaseStore } from "./contracts/lease-store.ts";
export { hasLeases } from "./contracts/lease-store.ts";
export type { RateLimiter, RateResult, RateRule } from "./contracts/rate-limiter.ts";
export type * from "./contracts/record-queries.ts";
export { hasRecordQueries } from "./contracts/record-queries.ts";
export { sharesOf } from "./contracts/verification-queue.ts";
export { isForbidden, specialAddresses } from "./http/remote/special-addresses.ts";
export { factsOf } from "./images/record/record-facts.ts";
export type { Checked, Filled, OptionProblem, OptionRule, RuleTable } from "./option-rules.ts";
export * as rules from "./option-rules.ts";
export { packageFile } from "./package-files.ts";
export { secretBytes, secretsIn } from "./secret-bytes.ts";
export {
  checkBlobKey,
  checkKeyRange,
  checkLeaseLength,
  checkListing,
  rangeWithin,
} from "./stores/argument-checks.ts";
export type { DueList } from "./stores/due-list.ts";
export { checkDueList, checkDueQuery, createDueList, dueName, parseDueName } from "./stores/due-list.ts";
export type { FsBlobStore, FsBlobStoreOptions } from "./stores/fs/fs-blob-store.ts";
export { createFsBlobStore } from "./stores/fs/fs-blob-store.ts";
export { makeDirectories } from "./stores/fs/fs-durable-directories.ts";
export type { MemoryBlobStoreOptions } from "./stores/memory/memory-blob-store.ts";
export { createMemoryBlobStore } from "./stores/memory/memory-blob-store.ts";
export type { MemoryKeyValueOptions } from "./stores/memory/memory-key-value.ts";
export { createMemoryKeyValue } from "./stores/memory/memory-key-value.ts";
export type { MemoryRateLimiterOptions } from "./stores/memory/memory-rate-limiter.ts";
export { createMemoryRateLimiter } from "./stores/memory/memory-rate-limiter.ts";
export type { SentinelHost, SentinelUrl } from "./stores/sentinel-url.ts";
export { isSentinelUrl, parseSentinelUrl } from "./stores/sentinel-url.ts";
export { systemTemporaryDirectory } from "./stores/system-temporary.ts";
