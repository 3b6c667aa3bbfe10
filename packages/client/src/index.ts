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
export {
  createLookupClient,
  type FindEmailParameters,
  type LookupClient,
  type LookupClientOptions,
  type VerificationPageParameters,
} from "./lookup-client.ts";
export type {
  Account,
  AccountMeta,
  AddressType,
  Allowance,
  Department,
  DomainSearch,
  DomainSearchMeta,
  DomainSearchParameters,
  EmailCount,
  EmailCountMeta,
  EmailEntry,
  EmailVerification,
  EmailVerificationMeta,
  FoundEmail,
  FoundEmailMeta,
  ListedVerification,
  LookupResult,
  NetworkFields,
  RequiredField,
  Seniority,
  SourceEntry,
  SubjectParameters,
  UnverifiedAddress,
  VerdictReason,
  VerificationEntry,
  VerificationList,
  VerificationPage,
  VerificationPageMeta,
  VerificationStatus,
} from "./lookup-types.ts";
export { type LookupFault, OutriggerError, type OutriggerErrorOptions } from "./outrigger-error.ts";
export { type SrcSet, type SrcSetImage, type SrcSetOptions, srcSet } from "./src-set.ts";
export type { OpenableSource, UploadSource, UrlSource } from "./upload-source.ts";
export { VERSION } from "./version.ts";
