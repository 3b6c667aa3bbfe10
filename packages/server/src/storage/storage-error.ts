import { isServiceError, type StoreRole } from "@outrigger/core";
import { reasonOf, whyUnusable } from "../cli/error-reason.ts";
import { StartError } from "../config/config-error.ts";
import { subjectOf } from "../config/targets/describe-storage.ts";
import type { StorageTarget } from "../config/targets/storage-target.ts";

/** That a store cannot be used, and why, in one line without users and passwords. */
export function storageError(target: StorageTarget, roles: readonly StoreRole[], cause: unknown): StartError {
  if (cause instanceof StartError) return cause;
  return new StartError(`${subjectOf(target, roles)} cannot be used: ${whyUnreachable(target, cause)}`, {
    cause,
  });
}

/** Why a store cannot be used, as a clause without a full stop. */
export function whyUnreachable({ kind }: StorageTarget, error: unknown): string {
  if (kind === "file") return whyUnusable(error);
  const reason = withoutStop(reasonOf(error));
  if (!isServiceError(error)) return reason;
  const said = withoutStop(error.message);
  // Both are of use: what the adapter makes of it, and what the other end or the network said, unless that is a mere code.
  return said === reason || !reason.includes(" ") ? said : `${said} (${reason})`;
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, "");
}
