import { distinctTargets, type FileTarget, type S3Target } from "@outrigger/core/stores";
import { ConfigError } from "../../../config/config-error.ts";
import { type OpenTarget, openTarget } from "../../../storage/open-storage.ts";
import { readSide } from "../migrate/read-sides.ts";

/** The location of a backup. */
export type BackupPlace = FileTarget | S3Target;

/** Reads the URL of a backup. @throws ConfigError */
export function readPlace(text: string, flag: string): BackupPlace {
  const [only, ...others] = distinctTargets(readSide(text, flag));
  if (
    only !== undefined &&
    others.length === 0 &&
    (only.target.kind === "file" || only.target.kind === "s3")
  ) {
    return only.target;
  }
  throw new ConfigError("The command line", [`${flag}: must be one URL that begins with file: or s3:`]);
}

export function openPlace(target: BackupPlace): Promise<OpenTarget> {
  return openTarget({ target, roles: ["records", "originals"] });
}
