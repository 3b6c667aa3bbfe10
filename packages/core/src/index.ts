// The names for everyday use. The entries images, lookup, stores and values have the rest.
export type * from "./contracts/accounts.ts";
export type * from "./contracts/blob-store.ts";
export type * from "./contracts/call.ts";
export type * from "./contracts/contact-source.ts";
export type { DueEntry, DueIndex } from "./contracts/due-index.ts";
export type { Job, JobQueue } from "./contracts/job-queue.ts";
export type { KeyValue } from "./contracts/key-value.ts";
export type { LeaseStore } from "./contracts/lease-store.ts";
export type { Logger } from "./contracts/logger.ts";
export type * from "./contracts/mail-prober.ts";
export type * from "./contracts/observer.ts";
export type * from "./contracts/pages.ts";
export type * from "./contracts/picture-edits.ts";
export type { RateLimiter, RateResult, RateRule } from "./contracts/rate-limiter.ts";
export type * from "./contracts/renderer.ts";
export type { SuppressionList } from "./contracts/suppression-list.ts";
export type { ErrorCode, ServiceErrorOptions } from "./errors.ts";
export { isError, isServiceError, ServiceError, systemCode } from "./errors.ts";
export type { CorsOptions } from "./http/cors.ts";
export { type Problem, problemOf } from "./http/problem.ts";
export type { TlsPolicy } from "./http/transport.ts";
export type * from "./images/authorize.ts";
export type { BackupOptions, BackupReport } from "./images/backup/backup-storage.ts";
export { backupStorage } from "./images/backup/backup-storage.ts";
export type { RestoreOptions, RestoreReport } from "./images/backup/restore-options.ts";
export { restoreStorage } from "./images/backup/restore-storage.ts";
export type { CloseOptions, Images } from "./images/images.ts";
export { createImages } from "./images/images.ts";
export type {
  ImageRateLimits,
  ImagesOptions,
  ImportUrlsOptions,
  RateLimitOption,
} from "./images/images-options.ts";
export type * from "./images/library/image-library.ts";
export type { ImageSource, UrlSource } from "./images/library/spool-source.ts";
export type { CountOptions, ImageCounts, ImageStats } from "./images/life/count-images.ts";
export type * from "./images/life/image-admin.ts";
export { createImageAdmin } from "./images/life/image-admin.ts";
export type { ImageEnd, ImageFilter, ImageState, ListedImage } from "./images/life/image-listing.ts";
export type { SweepReport } from "./images/life/sweep-images.ts";
export type { SweepOptions } from "./images/life/sweeper.ts";
export type { WithholdOptions } from "./images/life/withhold.ts";
export type * from "./images/migrate/migrate-options.ts";
export { migrateStorage } from "./images/migrate/migrate-storage.ts";
export type { OwnerLimits, Usage } from "./images/owners/owner-usage.ts";
export type { ImageDetails } from "./images/record/image-links.ts";
export type { GoneReason, Withholding } from "./images/record/image-record.ts";
export type { ImageSummary, PurgedImage, PurgeReason } from "./images/record/image-summary.ts";
export type { Secret } from "./images/record/pin.ts";
export type { ImageStorage } from "./images/record/storage-roles.ts";
export type { PictureEditOptions, WatermarkOptions } from "./images/renditions/edit-options.ts";
export type { PresetOption } from "./images/renditions/presets.ts";
export type { SizeSteps, SizesOption } from "./images/renditions/sizes.ts";
export type { AddressedRendition, AddressOptions } from "./images/renditions/write-address.ts";
export type { SendfileOptions } from "./images/sendfile.ts";
export type * from "./images/verify/verify-options.ts";
export { verifyStorage } from "./images/verify/verify-storage.ts";
export type * from "./lookup/answers.ts";
export type {
  LookupCallOptions,
  LookupLibrary,
  VerificationListOptions,
  VerifyEmailOptions,
} from "./lookup/library.ts";
export type { Lookup } from "./lookup/lookup.ts";
export { createLookup } from "./lookup/lookup.ts";
export type { LookupAdmin, NewAccount } from "./lookup/lookup-admin.ts";
export type { LookupOptions, PlanAllowance } from "./lookup/lookup-options.ts";
export type { LookupProblemId } from "./lookup/lookup-problem.ts";
export { isLookupProblem, LookupProblem } from "./lookup/lookup-problem.ts";
export { createMemoryAccounts } from "./lookup/memory/memory-accounts.ts";
export type {
  MemoryContactSource,
  MemoryContactSourceOptions,
} from "./lookup/memory/memory-contact-source.ts";
export { createMemoryContactSource } from "./lookup/memory/memory-contact-source.ts";
export { createMemorySuppressionList } from "./lookup/memory/memory-suppression-list.ts";
export type { DomainSearchParameters } from "./lookup/operations/domain-search.ts";
export type { EmailCountParameters } from "./lookup/operations/email-count.ts";
export type { EmailFinderParameters } from "./lookup/operations/email-finder.ts";
export type { LookupAnswer } from "./lookup/operations/operation.ts";
export type { SubjectParameters } from "./lookup/operations/subject.ts";
export type { ApiDescriptionOptions, Described } from "./openapi/api-description.ts";
export { createApiDescription } from "./openapi/api-description.ts";
export type * from "./openapi/document.ts";
export type { JsonSchema, JsonType, JsonValue } from "./schema/json-schema.ts";
export type { FsBlobStore, FsBlobStoreOptions } from "./stores/fs/fs-blob-store.ts";
export { createFsBlobStore } from "./stores/fs/fs-blob-store.ts";
export type { MemoryBlobStoreOptions } from "./stores/memory/memory-blob-store.ts";
export { createMemoryBlobStore } from "./stores/memory/memory-blob-store.ts";
export type { MemoryKeyValueOptions } from "./stores/memory/memory-key-value.ts";
export { createMemoryKeyValue } from "./stores/memory/memory-key-value.ts";
export type { MemoryRateLimiterOptions } from "./stores/memory/memory-rate-limiter.ts";
export { createMemoryRateLimiter } from "./stores/memory/memory-rate-limiter.ts";
