import { S3Client } from "@aws-sdk/client-s3";
import type { S3Access } from "../../../test/support/s3-server.ts";

/** A request at the steps `build` and `finalizeRequest` of the SDK. */
export interface S3Request {
  method: string;
  path: string;
  query: object;
  headers: Record<string, string>;
}

/** A client that passes each request to `onRequest`, which may change its headers, before it is signed or sent. */
export function clientOf(
  { endpoint, credentials }: Pick<S3Access, "endpoint" | "credentials">,
  step: "build" | "finalizeRequest",
  onRequest: (request: S3Request) => void,
): S3Client {
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    credentials,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  client.middlewareStack.add(
    (next) => (args) => {
      onRequest(args.request as S3Request); // Its type at these steps.
      return next(args);
    },
    { step: step as "build" }, // `add` has an overload for each step.
  );
  return client;
}
