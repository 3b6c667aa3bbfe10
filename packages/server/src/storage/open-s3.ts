import { isError } from "@outrigger/core";
import type { S3BlobStore } from "@outrigger/s3";
import { StartError } from "../config/config-error.ts";
import type { S3Target } from "../config/targets/storage-target.ts";

/** Opens a store in S3. The SDK is loaded by this only: most servers have no use for it. @throws StartError without it. */
export async function openS3({ kind: _, ...options }: S3Target): Promise<S3BlobStore> {
  const { createS3BlobStore } = await loadS3();
  return createS3BlobStore(options);
}

async function loadS3(): Promise<typeof import("@outrigger/s3")> {
  try {
    return await import("@outrigger/s3");
  } catch (cause) {
    const isMissing = isError(cause) && cause.message.includes("@aws-sdk/client-s3");
    if (!isMissing) throw cause;
    throw new StartError("Storage in S3 needs the AWS SDK: npm install @aws-sdk/client-s3", { cause });
  }
}
