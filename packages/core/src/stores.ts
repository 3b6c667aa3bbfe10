// Stores by their URL, and what backends and adapters are made of: contracts, abilities, checks of options and arguments.
export { abortable } from "./async/abortable.ts";
export { checkOptions, checkValue, optionProblems } from "./check-options.ts";
export * as shapes from "./contract-rules.ts";
export type {
  BlobInfo,
  BlobStore,
  BulkRemoval,
  ByteRange,
  DirectReadable,
  GetOptions,
  JointAdoption,
  KeyPage,
  ListOptions,
  LocalStore,
  PutOptions,
  RevisionProbe,
  StoredBlob,
} from "./contracts/blob-store.ts";
export {
  hasBulkRemoval,
  hasJointAdoption,
  hasRevisionProbe,
  isBlobKey,
  isDirectReadable,
  isLocalStore,
} from "./contracts/blob-store.ts";
export type { DueEntry, DueIndex } from "./contracts/due-index.ts";
export { hasDueIndex, MAX_DUE_MS } from "./contracts/due-index.ts";
export type { KeyValue } from "./contracts/key-value.ts";
export type { LeaseStore } from "./contracts/lease-store.ts";
export { hasLeases } from "./contracts/lease-store.ts";
export type { RateLimiter, RateResult, RateRule } from "./contracts/rate-limiter.ts";
export type { FoundRecords, RecordCount, RecordQueries } from "./contracts/record-queries.ts";
export { hasRecordQueries } from "./contracts/record-queries.ts";
export { isRedirect, type Resolution, requestRemote } from "./http/remote/open-remote.ts";
export {
  checkRemoteUrl,
  isHostEntry,
  type RemoteAddress,
  type RemotePolicy,
} from "./http/remote/remote-policy.ts";
export { isForbidden, specialAddresses } from "./http/remote/special-addresses.ts";
export { factsOf } from "./images/record/record-codec.ts";
export { VERSION } from "./openapi/version.ts";
export * as rules from "./option-rules.ts";
export { packageFile } from "./package-files.ts";
export { secretBytes } from "./secret-bytes.ts";
export {
  badCursor,
  checkBlobKey,
  checkLeaseLength,
  checkListing,
  rangeWithin,
  writeConflict,
} from "./stores/argument-checks.ts";
export { asBuffer, consumeBody, withBody } from "./stores/blob-body.ts";
export { checkDueList, checkDueQuery, createDueList, dueName, parseDueName } from "./stores/due-list.ts";
export { makeDirectories } from "./stores/fs/fs-files.ts";
export type { SentinelUrl } from "./stores/sentinel-url.ts";
export { isSentinelUrl, parseSentinelUrl } from "./stores/sentinel-url.ts";
export { systemTemporaryDirectory } from "./stores/system-temporary.ts";
export type { Drivers } from "./stores/urls/open-storage.ts";
export { openStorage, openTarget, openTargets } from "./stores/urls/open-storage.ts";
export { parseStorageUrl } from "./stores/urls/parse-storage-url.ts";
export type {
  FileTarget,
  RedisTarget,
  S3Target,
  SharedTarget,
  StorageTarget,
  StorageTargets,
} from "./stores/urls/storage-target.ts";
export { distinctTargets, isShared, ROLES } from "./stores/urls/storage-target.ts";
export { parseStorage } from "./stores/urls/storage-urls.ts";
