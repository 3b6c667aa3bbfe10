import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { StorageTarget } from "@outrigger/core/stores";
import { systemCode } from "@outrigger/core/values";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { writeAtomically, writeOnce } from "../../../cli/write-file.ts";
import { StartError, usageError } from "../../../config/config-error.ts";
import { secretsOf, secretText } from "../../../config/secret-text.ts";
import { describeTarget } from "../../../config/targets/describe-storage.ts";

/** File in the directory of a backup with one secret per line, as in `OUTRIGGER_SECRET_FILE`. */
const BACKUP_FILE = "secrets";

/** How the new server gets the secret from which PINs are derived. */
export interface SecretPlan {
  /** Writes the secret. An existing file already holds the same secret. */
  carry(): Promise<void>;
  /** The secrets of the old server that are known. */
  known: readonly Buffer[];
  /** The remaining steps, in sentences without a secret. */
  advice: string;
}

export interface SecretSides {
  /** The stores of the records. */
  from: StorageTarget;
  to: StorageTarget;
  /** The configured secrets. */
  configured: readonly Buffer[];
  /** The path given by `--secret-file`. */
  secretFile: string | undefined;
}

/** Plans without writing. @throws ConfigError, StartError if an existing file is in the way. */
export async function planSecret({ from, to, configured, secretFile }: SecretSides): Promise<SecretPlan> {
  const kept = await readSecretIn(from);
  const isConfigured = kept !== null && configured.some((each) => each.equals(kept));
  const known = kept === null || isConfigured ? [...configured] : [...configured, kept];
  if (secretFile !== undefined) {
    const file = resolve(secretFile);
    const text = linesOf(known);
    await requireWritable(file, text, known.length);
    const advice = `PINs stay valid: start the new server with OUTRIGGER_SECRET_FILE=${file}, which holds the secret of the old one. Protect it like a password.`;
    const carryOwn = await planOwn(to, known);
    const carry = async () => {
      await carryOwn?.();
      await writeOnce(file, text);
    };
    return { known, advice, carry };
  }
  const carry = await planOwn(to, known);
  if (carry !== null) {
    const advice = `PINs stay valid: ${describeTarget(to)} now keeps the secret of the old server.`;
    return { known, carry, advice };
  }
  const which = configured.length > 0 ? "the secret given to this command" : "the secret of the old server";
  const advice =
    kept === null
      ? `PINs stay valid with the same secret: start the new server with ${which} (OUTRIGGER_SECRET, OUTRIGGER_SECRET_FILE, or secret in its configuration).`
      : `PINs are derived from the secret in ${describeTarget(from)}; no PIN works on the new server without it. Run this again with --secret-file FILE, which is quick, and start the new server with OUTRIGGER_SECRET_FILE=FILE.`;
  return { known, advice, carry: async () => {} };
}

/** How a directory gets its only secret; `null` for other stores, and for several secrets. @throws StartError if it has another one. */
async function planOwn(to: StorageTarget, known: readonly Buffer[]): Promise<(() => Promise<void>) | null> {
  const [only, ...others] = known;
  if (to.kind !== "file" || only === undefined || others.length > 0) return null;
  const path = join(to.directory, "secret");
  const there = await readKept(path);
  if (there === null || there.equals(only)) return () => writeOnce(path, only);
  throw new StartError(
    `${path} holds another secret than the source, so PINs would change: use a directory without a secret`,
  );
}

/** @throws ConfigError */
async function requireWritable(path: string, text: Buffer, known: number): Promise<void> {
  if (known === 0)
    throw usageError(
      "--secret-file: must not be given if no secret is known: set OUTRIGGER_SECRET to the secret of the old server",
    );
  const there = await readKept(path);
  if (there !== null && !there.equals(text))
    throw usageError(`--secret-file: ${path} already exists with other content`);
  const directory = await stat(dirname(path)).catch(() => null); // Whatever the reason, the file cannot be written there.
  if (!directory?.isDirectory()) throw usageError(`--secret-file: there is no directory ${dirname(path)}`);
}

/** The secret that a data directory keeps; `null` if there is none. */
async function readSecretIn(target: StorageTarget): Promise<Buffer | null> {
  return target.kind === "file" ? readKept(join(target.directory, "secret")) : null;
}

/** The content of a secret file; `null` if it does not exist. */
async function readKept(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return null;
    throw new StartError(`${path} cannot be read: ${fileReasonOf(cause)}`, { cause });
  }
}

function linesOf(secrets: readonly Buffer[]): Buffer {
  return Buffer.from(secrets.map((secret) => `${secretText(secret)}\n`).join(""), "utf8");
}

/**
 * The secrets of a storage, the signing one first: the configured ones, otherwise the one in the data directory.
 * @throws StartError
 */
export async function secretsOfStorage(
  records: StorageTarget,
  configured: string | readonly string[] | undefined,
): Promise<Buffer[]> {
  if (configured !== undefined) return secretsOf(configured);
  const kept = await readSecretIn(records);
  return kept === null ? [] : [kept];
}

/** Verifies that secrets can be written to a backup. @returns The path of their file. @throws ConfigError */
export function requireSecretPlace(place: StorageTarget, secrets: readonly Buffer[]): string {
  if (place.kind !== "file")
    throw usageError(
      `--with-secret: ${describeTarget(place)} is not a local directory: omit the flag, and protect the secret like a password`,
    );
  if (secrets.length === 0)
    throw usageError("--with-secret: no secret is known: set OUTRIGGER_SECRET, or omit the flag");
  return join(place.directory, BACKUP_FILE);
}

/** Writes secrets readable by this user only, replacing those of an earlier run. */
export async function writeSecrets(path: string, secrets: readonly Buffer[]): Promise<void> {
  const text = linesOf(secrets);
  if ((await readKept(path))?.equals(text)) return;
  await writeAtomically(path, [text]);
}

/** The secrets in a backup and their file; empty if there are none. @throws StartError */
export async function readSecrets(place: StorageTarget): Promise<{ path: string; secrets: Buffer[] }> {
  const path = place.kind === "file" ? join(place.directory, BACKUP_FILE) : "";
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
  if (inBackup.secrets.length === 0) {
    return "PINs are derived from a secret that is not in the backup: start the service with the secret of the old service (OUTRIGGER_SECRET or OUTRIGGER_SECRET_FILE).";
  }
  const carry = await planOwn(records, inBackup.secrets);
  if (carry === null) {
    return `PINs stay valid with the secrets in ${inBackup.path}: start the service with OUTRIGGER_SECRET_FILE=${inBackup.path}, or a copy of it.`;
  }
  await carry();
  return `PINs stay valid: ${describeTarget(records)} has the secret of the old service again.`;
}
