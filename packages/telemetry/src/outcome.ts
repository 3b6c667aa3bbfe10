import { isError, isServiceError } from "@outrigger/core";

/** Outcome of a rejected operation: the error's code, `aborted` for an `AbortError`, otherwise `error`. */
export function outcomeOfError(error: unknown): string {
  if (isServiceError(error)) return error.code;
  return isError(error) && error.name === "AbortError" ? "aborted" : "error";
}
