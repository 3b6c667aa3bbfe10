import { isServiceError } from "@outrigger/core";
import { reasonOf } from "../../../cli/error-reason.ts";
import { StartError } from "../../../config/config-error.ts";

/**
 * Why a copy between storages could not go on, and what to do about it. What is no error of a store goes through.
 * @param refused Begins the sentence about a copy that must not be made.
 */
export function migrationError(error: unknown, refused: string): unknown {
  if (!isServiceError(error)) return error;
  const said = withReason(error.message, reasonOf(error));
  switch (error.code) {
    case "conflict":
      return new StartError(`${refused}: ${said}`, { cause: error });
    case "no_space":
      return new StartError(
        `The target has no room left: ${said}. Make room and run this again, it goes on where it was`,
        { cause: error },
      );
    default:
      return new StartError(`${said}. Run this again when that is mended, it goes on where it was`, {
        cause: error,
      });
  }
}

function withReason(message: string, reason: string): string {
  const said = message.replace(/\.$/, "");
  const why = reason.replace(/\.$/, "");
  return said === why ? said : `${said} (${why})`;
}
