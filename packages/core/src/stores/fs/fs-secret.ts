import { randomBytes } from "node:crypto";
import { open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "../../errors.ts";
import { type FileSystem, systemCode } from "./fs-files.ts";

const SECRET_BYTES = 32;

/** The secret in the file at `path`; the first process that requests it creates it. */
export async function readOrCreateSecret(
  path: string,
  temporary: string,
  files: FileSystem,
): Promise<Buffer> {
  return (await readSecret(path)) ?? (await createSecret(path, temporary, files));
}

/** The secret in the file at `path`; `null` if there is no file. */
export async function readSecret(path: string): Promise<Buffer | null> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      throw new ServiceError(
        "store_unavailable",
        `${path} can be read by others: run \`chmod 600\` on it, or replace it`,
      );
    }
    const secret = await readFile(path);
    if (secret.length < SECRET_BYTES)
      throw new ServiceError("store_unavailable", `${path} is damaged: it is too short`);
    return secret;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function createSecret(path: string, temporary: string, files: FileSystem): Promise<Buffer> {
  const candidate = join(temporary, `secret-${randomBytes(8).toString("hex")}`);
  const secret = randomBytes(SECRET_BYTES);
  try {
    const file = await open(candidate, "wx", 0o600);
    try {
      await file.writeFile(secret);
      await files.sync(file.fd);
    } finally {
      await file.close();
    }
    await files.link(candidate, path);
    await files.syncDirectory(dirname(path));
    return secret;
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    const others = await readSecret(path);
    if (others === null) throw error;
    return others;
  } finally {
    // A file that cannot be deleted goes with the other temporary files at the next start.
    await rm(candidate, { force: true }).catch(() => undefined);
  }
}
