import { isServiceError } from "@outrigger/core";
import { reasonOf } from "../cli/error-reason.ts";
import { StartError } from "../config/config-error.ts";
import { type DatabaseTarget, describeDatabase } from "../config/targets/database-target.ts";

/** That the lookup's database cannot be used, and why, in one line without user and password. */
export function lookupError(target: DatabaseTarget, cause: unknown): StartError {
  if (cause instanceof StartError) return cause;
  return new StartError(
    `The lookup's database ${describeDatabase(target)} cannot be used: ${whyUnusable(cause)}`,
    { cause },
  );
}

/** Why a database cannot be used, as a clause without a full stop. */
export function whyUnusable(error: unknown): string {
  const reason = withoutStop(reasonOf(error));
  if (!isServiceError(error)) return reason;
  const said = withoutStop(error.message);
  return said === reason || !reason.includes(" ") ? said : `${said} (${reason})`;
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, "");
}
