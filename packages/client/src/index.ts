// The build copies the types of core into the declarations of this package, which depends on no other.
export type { EmailVerification } from "@outrigger/core";
export type {
  AddressType,
  Department,
  RequiredField,
  Seniority,
  VerificationStatus,
} from "@outrigger/core/lookup";
export type { Instant } from "./checks.ts";
export type { ClientOptions } from "./client-options.ts";
export type { Download } from "./download.ts";
export { type ImageAddress, parseImageAddress } from "./image-address.ts";
export type {
  AddressFormat,
  CreatedImage,
  DocumentedFormat,
  DownloadOptions,
  ImageFormat,
  ImageRecord,
  PicturePoint,
  ReadOptions,
  RequestOptions,
  UploadOptions,
  UploadProgress,
} from "./image-types.ts";
export { createImagesClient, type ImageChange, type ImagesClient } from "./images-client.ts";
export type {
  Account,
  AccountMeta,
  Allowance,
  DomainSearch,
  DomainSearchMeta,
  DomainSearchParameters,
  EmailCount,
  EmailCountMeta,
  EmailEntry,
  EmailVerificationMeta,
  FindEmailParameters,
  FoundEmail,
  FoundEmailMeta,
  LookupClient,
  LookupClientOptions,
  LookupResult,
  SourceEntry,
  SubjectParameters,
  VerdictReason,
  VerificationEntry,
} from "./lookup-client.ts";
export { createLookupClient } from "./lookup-client.ts";
export { type LookupFault, OutriggerError, type OutriggerErrorOptions } from "./outrigger-error.ts";
export type { UrlSource } from "./upload-source.ts";
export { VERSION } from "./version.ts";
