import { isServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";

/** Outcome of a rejected operation: the error's code, `aborted` for an `AbortError`, otherwise `error`. */
export function outcomeOfError(error: unknown): string {
  if (isServiceError(error)) return error.code;
  return isError(error) && error.name === "AbortError" ? "aborted" : "error";
}
