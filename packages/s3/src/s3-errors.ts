import { isError, isServiceError, ServiceError, systemCode } from "@outrigger/core";

/** What to do about it, for the operator; by the service's code. */
const REMEDIES: Record<string, string> = {
  NoSuchBucket: "there is no such bucket at this endpoint",
  InvalidAccessKeyId: "the service does not know the access key",
  SignatureDoesNotMatch: "the secret access key is wrong",
  AccessDenied: "the access key may not do this: it needs GetObject, PutObject, DeleteObject and ListBucket",
  RequestTimeTooSkewed: "the clocks of this machine and of the service differ",
  EntityTooLarge: "the service takes no object of this size",
  NotImplemented: "the service cannot do this",
};

const NO_SPACE = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull"]);
const TRANSIENT_STATUS = new Set([408, 429, 500, 502, 503, 504]);
// The clock is set right by the SDK when the service tells the time.
const TRANSIENT_CODES = new Set([
  "ConditionalRequestConflict",
  "OperationAborted",
  "RequestTimeTooSkewed",
  "RequestTimeout",
]);

/** Whether the object is missing. That the bucket is missing is another matter. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && nameOf(error) === "NoSuchKey";
}

/** Whether a condition did not hold: of a write that replaces, also since there is nothing to replace. */
export function isRefusedCondition(error: unknown): boolean {
  return statusOf(error) === 412 || isMissing(error);
}

/** Whether the range begins beyond the object. */
export function isBeyondEnd(error: unknown): boolean {
  return statusOf(error) === 416;
}

/** Whether it may go well if it is tried again, or may even have gone well: no answer, or one that says so. */
export function isTransient(error: unknown): boolean {
  if (isServiceError(error)) return false;
  const status = statusOf(error);
  return status === undefined || TRANSIENT_STATUS.has(status) || TRANSIENT_CODES.has(nameOf(error));
}

/** The status of the service's answer; `undefined` for an error that is none. Not by class: there may be several SDKs. */
export function statusOf(error: unknown): number | undefined {
  const metadata = isError(error) && "$metadata" in error ? error.$metadata : undefined;
  const isMetadata = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata;
  return isMetadata && typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined;
}

function nameOf(error: unknown): string {
  return isError(error) ? error.name : String(error);
}

/** A failure as the store's own error, which tells no key and no address. */
export function storeError(error: unknown): ServiceError {
  if (isServiceError(error)) return error;
  const name = nameOf(error);
  if (NO_SPACE.has(name) || statusOf(error) === 507) {
    return new ServiceError("no_space", `The bucket is full (${name})`, { cause: error });
  }
  const remedy = REMEDIES[name];
  const message =
    remedy === undefined
      ? `The object storage cannot be used (${reasonOf(error)})`
      : `The object storage refuses (${name}): ${remedy}`;
  return new ServiceError("store_unavailable", message, { cause: error });
}

/** The code of a failed system call, or what else says most; the text of a service's error may name keys. */
function reasonOf(error: unknown): string {
  if (!isError(error)) return String(error);
  return systemCode(error) ?? (error.name === "Error" ? error.message : error.name);
}
