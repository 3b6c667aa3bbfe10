import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "@outrigger/core";
import { reasonOf } from "../../cli/error-reason.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import type { StorageTarget } from "../../config/targets/storage-target.ts";
import { SET_SECRET } from "../../storage/choose-secret.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** As many as the store makes, and demands. */
const SECRET_BYTES = 32;

/**
 * Whether the secret of PINs exists, is whole, and cannot be read by other users.
 * @param records What keeps the records, and a secret where it can.
 * @param isConfigured Whether the configuration has one, which wins.
 */
export async function checkSecret(records: StorageTarget, isConfigured: boolean): Promise<Finding> {
  if (isConfigured) return ok("secret", "the one of the configuration");
  if (records.kind === "memory") return ok("secret", "made at each start");
  if (records.kind !== "file") {
    return problem("secret", `there is none, and ${describeTarget(records)} keeps none`, SET_SECRET);
  }
  const path = join(records.directory, "secret");
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      return problem("secret", `${path} can be read by others`, `Make it yours alone: chmod 600 ${path}`);
    }
    const { length } = await readFile(path);
    if (length >= SECRET_BYTES) return ok("secret", path);
    return problem(
      "secret",
      `${path} is too short`,
      "Bring it back from a backup: with another, PINs change",
    );
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return ok("secret", "made at the first start");
    return problem("secret", `${path} cannot be read: ${reasonOf(error)}`, "Give it to the server's user");
  }
}
