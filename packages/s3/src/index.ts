export type { S3BlobStore } from "./s3-blob-store.ts";
export { createS3BlobStore } from "./s3-blob-store.ts";
export type { S3BlobStoreOptions, S3Capabilities, S3Credentials, S3Sender } from "./s3-options.ts";
