import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../error-reason.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** As many as the store makes, and demands. */
const SECRET_BYTES = 32;

/**
 * Whether what PINs are derived from is there, whole, and nobody else's to read.
 * @param directory The data directory, where one is kept.
 * @param isConfigured Whether the configuration has one, which wins.
 */
export async function checkSecret(directory: string, isConfigured: boolean): Promise<Finding> {
  if (isConfigured) return ok("secret", "the one of the configuration");
  const path = join(directory, "secret");
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
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return ok("secret", "made at the first start");
    return problem("secret", `${path} cannot be read: ${reasonOf(error)}`, "Give it to the server's user");
  }
}
