import { isServiceError, ServiceError } from "@outrigger/core";
import { isError, systemCode } from "@outrigger/core/values";

/** The cause of a refusal, for the operator, by the service's error code. */
const REMEDIES: Record<string, string> = {
  NoSuchBucket: "there is no such bucket at this endpoint",
  InvalidAccessKeyId: "the access key does not exist at this service",
  SignatureDoesNotMatch: "the secret access key is wrong",
  AccessDenied:
    "the access key lacks a permission: it needs GetObject, PutObject, DeleteObject and ListBucket",
  RequestTimeTooSkewed: "the clocks of this machine and of the service differ too much",
  EntityTooLarge: "the service does not accept an object of this size",
  NotImplemented: "the service does not support this operation",
};

const NO_SPACE = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull"]);
const TRANSIENT_STATUS = new Set([408, 429, 500, 502, 503, 504]);
// RequestTimeTooSkewed: the SDK corrects its clock by the time in the reply.
const TRANSIENT_CODES = new Set([
  "ConditionalRequestConflict",
  "OperationAborted",
  "RequestTimeTooSkewed",
  "RequestTimeout",
]);

/** Whether the object is missing. A missing bucket does not count. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && errorName(error) === "NoSuchKey";
}

/** Whether the condition of a write did not hold, or the object to replace does not exist. */
export function isRefusedCondition(error: unknown): boolean {
  return statusOf(error) === 412 || isMissing(error);
}

/** Whether the range begins beyond the object. */
export function isBeyondEnd(error: unknown): boolean {
  return statusOf(error) === 416;
}

/** Whether a retry may succeed, or the request may have succeeded: there was no reply, or one that says so. */
export function isTransient(error: unknown): boolean {
  if (isServiceError(error)) return false;
  const status = statusOf(error);
  return status === undefined || TRANSIENT_STATUS.has(status) || TRANSIENT_CODES.has(errorName(error));
}

/**
 * HTTP status of the service's reply; `undefined` without a reply. Not by class: there may be several copies
 * of the SDK.
 */
export function statusOf(error: unknown): number | undefined {
  const metadata = isError(error) && "$metadata" in error ? error.$metadata : undefined;
  const isMetadata = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata;
  return isMetadata && typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
}

function errorName(error: unknown): string {
  return isError(error) ? error.name : String(error);
}

/** Converts a failure to a `ServiceError` whose message contains no key and no address. */
export function storeError(error: unknown): ServiceError {
  if (isServiceError(error)) return error;
  const name = errorName(error);
  if (NO_SPACE.has(name) || statusOf(error) === 507) {
    return new ServiceError("no_space", `The bucket is full (${name})`, { cause: error });
  }
  const remedy = REMEDIES[name];
  const message =
    remedy === undefined
      ? `The object storage cannot be used (${reasonOf(error)})`
      : `The object storage refused the request (${name}): ${remedy}`;
  return new ServiceError("store_unavailable", message, { cause: error });
}

/**
 * The code of a failed system call, or the name of the error. The message of a service's error may contain
 * keys.
 */
function reasonOf(error: unknown): string {
  if (!isError(error)) return String(error);
  return systemCode(error) ?? (error.name === "Error" ? error.message : error.name);
}
