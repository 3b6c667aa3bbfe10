import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StorageTarget } from "@outrigger/core/stores";
import { systemCode } from "@outrigger/core/values";
import { fileReasonOf } from "../../cli/error-reason.ts";
import { describeTarget } from "../../config/targets/describe-storage.ts";
import { SET_SECRET } from "../../storage/choose-secret.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** The length that the store creates and requires. */
const SECRET_BYTES = 32;

/**
 * Whether the secret of PINs exists, is complete, and cannot be read by other users.
 * @param records The store of the records; a directory also keeps the secret.
 * @param isConfigured Whether the configuration sets a secret, which takes precedence.
 */
export async function checkSecret(records: StorageTarget, isConfigured: boolean): Promise<Finding> {
  if (isConfigured) return ok("secret", "set in the configuration");
  if (records.kind === "memory") return ok("secret", "created at each start");
  if (records.kind !== "file") {
    return problem("secret", `none is set, and ${describeTarget(records)} cannot keep one`, SET_SECRET);
  }
  const path = join(records.directory, "secret");
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      return problem(
        "secret",
        `${path} can be read by other users`,
        `Restrict it to its owner: chmod 600 ${path}`,
      );
    }
    const { length } = await readFile(path);
    if (length >= SECRET_BYTES) return ok("secret", path);
    return problem(
      "secret",
      `${path} is too short`,
      "Restore it from a backup: another secret changes all PINs",
    );
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return ok("secret", "created at the first start");
    return problem(
      "secret",
      `${path} cannot be read: ${fileReasonOf(error)}`,
      "Make the server's user its owner",
    );
  }
}
