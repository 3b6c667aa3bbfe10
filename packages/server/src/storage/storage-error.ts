import type { StoreRole } from "@outrigger/core";
import type { SharedTarget, StorageTarget } from "@outrigger/core/stores";
import { directoryReasonOf, serviceReasonOf } from "../cli/error-reason.ts";
import { StartError } from "../config/config-error.ts";
import { subjectOf } from "../config/targets/describe-storage.ts";

/** The error that a store cannot be used: one line with the reason, without users and passwords. */
export function storageError(target: StorageTarget, roles: readonly StoreRole[], cause: unknown): StartError {
  if (cause instanceof StartError) return cause;
  return new StartError(`${subjectOf(target, roles)} cannot be used: ${whyUnreachable(target, cause)}`, {
    cause,
  });
}

/** Why a store cannot be used, as a clause without a full stop. */
export function whyUnreachable({ kind }: StorageTarget, error: unknown): string {
  return kind === "file" ? directoryReasonOf(error) : serviceReasonOf(error);
}

/** Waits for an operation of a store. @throws StartError, as {@link storageError}. */
export async function withStorageError<T>({ target, roles }: SharedTarget, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw storageError(target, roles, cause);
  }
}
