// Services, their options and results, errors, and stores of this machine.

export type { ImageStorage } from "./contracts/blob-store.ts";
export type {
  BodyLimits,
  BytesLimits,
  Call,
  ReadyReply,
  Reply,
  Service,
  SpooledFile,
  Upload,
  UploadLimits,
  UploadSlot,
} from "./contracts/call.ts";
export type { Logger } from "./contracts/logger.ts";
export type {
  AnsweredRequest,
  GaugeName,
  ObservableWaits,
  Observer,
  Operation,
  StoreRole,
} from "./contracts/observer.ts";
export type { ErrorCode } from "./errors.ts";
export { isServiceError, ServiceError } from "./errors.ts";
export type { CorsOptions } from "./http/cors.ts";
export { problemOf, statusOf } from "./http/problem.ts";
export type { WebhookEndpoint, WebhooksOptions } from "./http/webhooks.ts";
export type { Authorize, ImageAction, OwnerGrant } from "./images/authorize.ts";
export type { Images } from "./images/images.ts";
export { createImages } from "./images/images.ts";
export type { ImagesOptions } from "./images/images-options.ts";
export type {
  AddedImage,
  AddOptions,
  ImageLibrary,
  StoredImage,
} from "./images/library/image-library.ts";
export type { OpenedImage } from "./images/library/open-image.ts";
export type { TicketOptions, UploadTicket } from "./images/library/upload-tickets.ts";
export type { ImageStats } from "./images/life/count-images.ts";
export type { AllowOptions, Denial, DenyOptions } from "./images/life/deny-list.ts";
export type {
  ImageAdmin,
  ImageAdminOptions,
  ImageChangeOfMany,
  StorageAdmin,
  UndeliveredEvents,
} from "./images/life/image-admin.ts";
export { createImageAdmin } from "./images/life/image-admin.ts";
export type { ImageEnd, ImageFilter, ImageState, ListedImage } from "./images/life/image-listing.ts";
export type { NewestImages } from "./images/life/newest-images.ts";
export type { OwnerRemoval, RemoveAllOptions } from "./images/life/remove-owned.ts";
export type { DecideOptions, ReportAdmin, ReportFilter } from "./images/life/report-admin.ts";
export type { SweepReport } from "./images/life/sweeper.ts";
export type { WithholdOptions } from "./images/life/withhold.ts";
export type { Release, ReleaseOptions, SameBytes } from "./images/life/withhold-copies.ts";
export type { OwnerLimits, Usage } from "./images/owners/owner-usage.ts";
export type { ImageDetails } from "./images/record/image-links.ts";
export type { ImageEvent, ImageSummary, PurgedImage } from "./images/record/image-record.ts";
export type {
  Inspect,
  InspectedFile,
  InspectedImage,
  InspectVerdict,
} from "./images/record/inspect-rules.ts";
export type { PresetOption } from "./images/renditions/presets.ts";
export type { AddressedRendition } from "./images/renditions/write-address.ts";
export type { ReportDecision, ReportReason } from "./images/reports/report-case.ts";
export type { ImageReport } from "./images/reports/reports.ts";
export type { SendfileOptions } from "./images/sendfile.ts";
export type {
  AccountAnswer,
  DomainSearchAnswer,
  EmailCountAnswer,
  EmailEntry,
  EmailFinderAnswer,
  EmailVerification,
  EmailVerifierAnswer,
} from "./lookup/answers.ts";
export type { Lookup } from "./lookup/lookup.ts";
export { createLookup } from "./lookup/lookup.ts";
export type { LookupOptions } from "./lookup/lookup-options.ts";
export { isLookupProblem, LookupProblem } from "./lookup/lookup-problem.ts";
export { createMemoryAccounts } from "./lookup/memory/memory-accounts.ts";
export type { MemoryContactSource } from "./lookup/memory/memory-contact-source.ts";
export { createMemoryContactSource } from "./lookup/memory/memory-contact-source.ts";
export { createMemorySuppressionList } from "./lookup/memory/memory-suppression-list.ts";
export type { DomainSearchParameters } from "./lookup/operations/domain-search.ts";
export type { LookupAnswer } from "./lookup/operations/operation.ts";
export type { ApiDescriptionOptions } from "./openapi/api-description.ts";
export { createApiDescription } from "./openapi/api-description.ts";
export type { ApiDocument } from "./openapi/document.ts";
export type { Secret } from "./secret-bytes.ts";
export type { FsBlobStore } from "./stores/fs/fs-blob-store.ts";
export { createFsBlobStore } from "./stores/fs/fs-blob-store.ts";
export { createMemoryBlobStore } from "./stores/memory/memory-blob-store.ts";
export { createMemoryKeyValue } from "./stores/memory/memory-key-value.ts";
export { createMemoryRateLimiter } from "./stores/memory/memory-rate-limiter.ts";
