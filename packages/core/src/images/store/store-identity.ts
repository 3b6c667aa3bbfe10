import { createHmac, randomBytes } from "node:crypto";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { FORMAT_VERSION } from "../record/known-version.ts";
import { type Secret, toKeys } from "../record/pin.ts";

/** The store of the records answers, and must not be used: it is another one, empty, newer, or of another secret. */
export class StoreRefused extends ServiceError {
  constructor(message: string) {
    super("store_unavailable", message);
    this.name = "StoreRefused";
  }
}

/** What a store of records says about itself, in one small record beside the images' own. */
export interface StoreIdentity {
  /** Version of the format of what is stored; a store with a greater one than {@link FORMAT_VERSION} must not be used. */
  v: number;
  /** 128 random bits, hex. Another value means another store. */
  id: string;
  /** Fingerprints of the secrets that PINs were derived from, the latest first. */
  secrets: string[];
  /** Unix milliseconds. */
  createdAt: number;
}

/** A stored identity, and what a conditional write of it expects. */
export interface HeldIdentity {
  identity: StoreIdentity;
  revision: string;
}

/** Key of the identity in the records' store. No image's key looks like it. */
export const IDENTITY_KEY = "identity";

const IS_BACKUP =
  "This storage is a backup, which is not served: restore it to a storage of its own by outrigger restore";

/** 128 bits that tell secrets apart and say nothing about them, hex; one for each secret of a rotation list. */
export function fingerprintsOf(secret: Secret): string[] {
  return toKeys(secret).map((key) =>
    createHmac("sha256", key).update("outrigger secret fingerprint").digest("hex").slice(0, 32),
  );
}

/** The identity of a store that has none yet. */
export function newIdentity(secrets: readonly string[], now: number): StoreIdentity {
  return { v: FORMAT_VERSION, id: randomBytes(16).toString("hex"), secrets: [...secrets], createdAt: now };
}

/**
 * @returns `null` where the store has none. Rejects with `damaged` for one that cannot be read, with `store_unavailable` for a
 * backup, otherwise as the store does.
 */
export async function readIdentity(records: BlobStore): Promise<HeldIdentity | null> {
  const blob = await records.get(IDENTITY_KEY);
  if (blob === null) return null;
  return { identity: decodeIdentity(await readAll(blob.body)), revision: blob.revision };
}

/**
 * Writes an identity, by compare-and-set.
 * @param revision of the one that it replaces; `null` where there is none.
 * @returns its revision. Rejects with `conflict` when another process was faster.
 */
export async function writeIdentity(
  records: BlobStore,
  identity: StoreIdentity,
  revision: string | null,
): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(identity), "utf8");
  return (await records.put(IDENTITY_KEY, bytes, { ifRevision: revision })).revision;
}

/** What a backup has in the place of an identity, so that no service begins to use it. */
export async function writeBackupIdentity(records: BlobStore, identity: StoreIdentity | null): Promise<void> {
  const kept = identity ?? newIdentity([], Date.now());
  await records.put(IDENTITY_KEY, Buffer.from(JSON.stringify({ ...kept, isBackup: true }), "utf8"));
}

function decodeIdentity(bytes: Buffer): StoreIdentity {
  let found: (StoreIdentity & { isBackup?: true }) | null = null;
  try {
    found = JSON.parse(bytes.toString("utf8")); // Checked below.
  } catch {
    // Not even JSON: reported below.
  }
  const { v, id, secrets, isBackup } = found ?? {};
  if (isBackup === true) throw new StoreRefused(IS_BACKUP);
  if (found !== null && Number.isInteger(v) && typeof id === "string" && Array.isArray(secrets)) return found;
  throw new ServiceError("damaged", `The identity of the storage (key "${IDENTITY_KEY}") cannot be read`);
}
