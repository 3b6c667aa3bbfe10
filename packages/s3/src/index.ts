export type { S3BlobStore } from "./s3-blob-store.ts";
export { createS3BlobStore } from "./s3-blob-store.ts";
export type { S3Capabilities } from "./s3-capabilities.ts";
export type { S3BlobStoreOptions } from "./s3-options.ts";
