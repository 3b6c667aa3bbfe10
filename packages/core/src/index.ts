export type {
  BlobInfo,
  BlobStore,
  ByteRange,
  GetOptions,
  KeyPage,
  ListOptions,
  LocalFileStore,
  PutOptions,
  RevisionProbe,
  SecretKeeper,
  SpoolingStore,
  StoredBlob,
} from "./contracts/blob-store.ts";
export {
  hasLocalFiles,
  hasLocalSecret,
  hasRevisionProbe,
  hasSpool,
  isBlobKey,
} from "./contracts/blob-store.ts";
export type { Call, Reply, Service, SpooledFile, Upload, UploadLimits } from "./contracts/call.ts";
export type { EditView, ImageView, Page, Pages, ProblemView } from "./contracts/pages.ts";
export type { RateLimiter, RateResult, RateRule } from "./contracts/rate-limiter.ts";
export type {
  Admission,
  AdmitOptions,
  ImageFormat,
  ImageInfo,
  OriginalType,
  Quality,
  Renderer,
  RenderSource,
  Rendition,
  RenditionSpec,
} from "./contracts/renderer.ts";
export type { ErrorCode, ServiceErrorOptions } from "./errors.ts";
export { isServiceError, ServiceError } from "./errors.ts";
export type { TlsPolicy } from "./http/transport.ts";
export type { Images } from "./images/images.ts";
export { createImages } from "./images/images.ts";
export type { ImageRateLimits, ImageStorage, ImagesOptions } from "./images/images-options.ts";
export type { Secret } from "./images/pin.ts";
export type { FsBlobStore, FsBlobStoreOptions } from "./stores/fs-blob-store.ts";
export { createFsBlobStore } from "./stores/fs-blob-store.ts";
export type { MemoryBlobStoreOptions } from "./stores/memory-blob-store.ts";
export { createMemoryBlobStore } from "./stores/memory-blob-store.ts";
export type { MemoryRateLimiterOptions } from "./stores/memory-rate-limiter.ts";
export { createMemoryRateLimiter } from "./stores/memory-rate-limiter.ts";
