import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { StorageTarget } from "@outrigger/core/stores";
import { systemCode } from "@outrigger/core/values";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { ConfigError, StartError } from "../../../config/config-error.ts";
import { secretText } from "../../../config/secret-text.ts";
import { describeTarget } from "../../../config/targets/describe-storage.ts";
import { writeOnce } from "../write-file.ts";

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
  const kept = from.kind === "file" ? await readKept(join(from.directory, "secret")) : null;
  const isConfigured = kept !== null && configured.some((each) => each.equals(kept));
  const known = kept === null || isConfigured ? [...configured] : [...configured, kept];
  const [only, ...others] = known;
  const own = to.kind === "file" ? join(to.directory, "secret") : null;
  const carriesOwn = own !== null && only !== undefined && others.length === 0;
  if (carriesOwn) await requireSame(own, only);
  const file = secretFile === undefined ? null : resolve(secretFile);
  const text = Buffer.from(known.map((each) => `${secretText(each)}\n`).join(""), "utf8");
  if (file !== null) await requireWritable(file, text, known.length);
  return {
    known,
    async carry() {
      if (carriesOwn) await write(own, only);
      if (file !== null) await write(file, text);
    },
    advice: adviceFor({
      from,
      to,
      file,
      carriesOwn,
      isKept: kept !== null,
      isConfigured: configured.length > 0,
    }),
  };
}

/** The content of a secret file; `null` if it does not exist. */
export async function readKept(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return null;
    throw new StartError(`${path} cannot be read: ${fileReasonOf(cause)}`, { cause });
  }
}

async function write(path: string, bytes: Buffer): Promise<void> {
  try {
    await writeOnce(path, bytes);
  } catch (cause) {
    throw new StartError(`${path} cannot be written: ${fileReasonOf(cause)}`, { cause });
  }
}

async function requireSame(path: string, secret: Buffer): Promise<void> {
  const there = await readKept(path);
  if (there === null || there.equals(secret)) return;
  throw new StartError(
    `${path} holds another secret than the source, so PINs would change: use a directory without a secret`,
  );
}

async function requireWritable(path: string, text: Buffer, known: number): Promise<void> {
  const problem = (what: string) => new ConfigError("The command line", [`--secret-file: ${what}`]);
  if (known === 0) {
    throw problem(
      "must not be given if no secret is known: set OUTRIGGER_SECRET to the secret of the old server",
    );
  }
  const there = await readKept(path);
  if (there !== null && !there.equals(text)) throw problem(`${path} already exists with other content`);
  const directory = await stat(dirname(path)).catch(() => null); // Whatever the reason, the file cannot be written there.
  if (!directory?.isDirectory()) throw problem(`there is no directory ${dirname(path)}`);
}

interface Carried {
  from: StorageTarget;
  to: StorageTarget;
  file: string | null;
  carriesOwn: boolean;
  isKept: boolean;
  isConfigured: boolean;
}

function adviceFor({ from, to, file, carriesOwn, isKept, isConfigured }: Carried): string {
  if (file !== null) {
    return `PINs stay valid: start the new server with OUTRIGGER_SECRET_FILE=${file}, which holds the secret of the old one. Protect it like a password.`;
  }
  if (carriesOwn) return `PINs stay valid: ${describeTarget(to)} now keeps the secret of the old server.`;
  if (isKept) {
    return `PINs are derived from the secret in ${describeTarget(from)}; no PIN works on the new server without it. Run this again with --secret-file FILE, which is quick, and start the new server with OUTRIGGER_SECRET_FILE=FILE.`;
  }
  const which = isConfigured ? "the secret given to this command" : "the secret of the old server";
  return `PINs stay valid with the same secret: start the new server with ${which} (OUTRIGGER_SECRET, OUTRIGGER_SECRET_FILE, or secret in its configuration).`;
}
