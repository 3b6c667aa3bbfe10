import { join } from "node:path";
import { Readable } from "node:stream";
import type { StorageTarget } from "@outrigger/core/stores";
import { ConfigError, StartError } from "../../../config/config-error.ts";
import { secretsOf, secretText } from "../../../config/secret-text.ts";
import { describeTarget } from "../../../config/targets/describe-storage.ts";
import { writeOnce, writeWhole } from "../write-file.ts";
import { readKept } from "./secrets.ts";

/** File in the directory of a backup with one secret per line, as in `OUTRIGGER_SECRET_FILE`. */
const FILE_NAME = "secrets";

/**
 * The secrets of a storage, the signing one first: the configured ones, otherwise the one in the data directory.
 * @throws StartError
 */
export async function secretsOfStorage(
  records: StorageTarget,
  configured: string | readonly string[] | undefined,
): Promise<Buffer[]> {
  if (configured !== undefined) return secretsOf(configured);
  const kept = records.kind === "file" ? await readKept(join(records.directory, "secret")) : null;
  return kept === null ? [] : [kept];
}

/** Verifies that secrets can be written to a backup. @returns The path of their file. @throws ConfigError */
export function requireSecretPlace(place: StorageTarget, secrets: readonly Buffer[]): string {
  const problem = (what: string) => new ConfigError("The command line", [`--with-secret: ${what}`]);
  if (place.kind !== "file") {
    throw problem(
      `${describeTarget(place)} is not a local directory: omit the flag, and protect the secret like a password`,
    );
  }
  if (secrets.length === 0) throw problem("no secret is known: set OUTRIGGER_SECRET, or omit the flag");
  return join(place.directory, FILE_NAME);
}

/** Writes secrets readable by this user only, replacing those of an earlier run. */
export async function writeSecrets(path: string, secrets: readonly Buffer[]): Promise<void> {
  const text = secrets.map((secret) => `${secretText(secret)}\n`).join("");
  if ((await readKept(path))?.toString("utf8") === text) return;
  await writeWhole(path, Readable.from([text]));
}

/** The secrets in a backup and their file; empty if there are none. @throws StartError */
export async function readSecrets(place: StorageTarget): Promise<{ path: string; secrets: Buffer[] }> {
  const path = place.kind === "file" ? join(place.directory, FILE_NAME) : "";
  const text = path === "" ? null : await readKept(path);
  const lines = (text?.toString("utf8") ?? "").split(/\r?\n/).filter((line) => line !== "");
  const secrets = secretsOf(lines);
  if (secrets.length < lines.length) throw new StartError(`${path} has lines that are not secrets`);
  return { path, secrets };
}

/** Restores the secret of a backup to a directory without one. @returns The remaining step, in a sentence. */
export async function putSecretBack(
  records: StorageTarget,
  known: readonly Buffer[],
  inBackup: { path: string; secrets: readonly Buffer[] },
): Promise<string> {
  if (known.length > 0) return "PINs stay valid: the service keeps its secret.";
  const [only, ...others] = inBackup.secrets;
  if (only === undefined) {
    return "PINs are derived from a secret that is not in the backup: start the service with the secret of the old service (OUTRIGGER_SECRET or OUTRIGGER_SECRET_FILE).";
  }
  if (records.kind !== "file" || others.length > 0) {
    return `PINs stay valid with the secrets in ${inBackup.path}: start the service with OUTRIGGER_SECRET_FILE=${inBackup.path}, or a copy of it.`;
  }
  await writeOnce(join(records.directory, "secret"), only);
  return `PINs stay valid: ${describeTarget(records)} has the secret of the old service again.`;
}
