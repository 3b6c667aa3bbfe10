import { isError, isServiceError } from "@outrigger/core";

/** How an operation ended that rejected: the code of the error, `aborted` where nobody waits any more, else `error`. */
export function outcomeOfError(error: unknown): string {
  if (isServiceError(error)) return error.code;
  return isError(error) && error.name === "AbortError" ? "aborted" : "error";
}
