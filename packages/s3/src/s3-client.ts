import { S3Client } from "@aws-sdk/client-s3";
import type { S3BlobStoreOptions } from "./s3-options.ts";

/** A client with the settings that work with every service known. */
export function createS3Client(options: S3BlobStoreOptions): S3Client {
  const { endpoint, credentials, maxSockets = 100, timeoutMs = 2000 } = options;
  const region = options.region ?? (endpoint === undefined ? undefined : "us-east-1");
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    // The checksums that are sent by default come as trailers, which several services refuse or store with the body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // The store tries again itself: it has to know of every attempt at a conditional write.
    maxAttempts: 1,
    // Whatever goes wrong is told by errors; the SDK would print some of it.
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    requestHandler: {
      connectionTimeout: timeoutMs,
      // Time limits are the store's own; this one would cut off a reader who is slow.
      socketTimeout: 0,
      httpAgent: { maxSockets },
      httpsAgent: { maxSockets },
    },
  });
}

function silent(): void {}
