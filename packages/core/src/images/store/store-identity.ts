import { createHmac, randomBytes } from "node:crypto";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { ServiceError } from "../../errors.ts";
import { type Secret, toKeys } from "../../secret-bytes.ts";
import { readAll } from "../../stores/read-all.ts";
import { STORE_VERSION } from "../record/known-version.ts";

/** A store answers but must not be used: it is another store, empty, of a newer release, or of another secret. */
export class StoreRefused extends ServiceError {
  /** Role of the refused store. */
  readonly role: StoreRole;

  constructor(message: string, role: StoreRole = "records") {
    super("store_unavailable", message);
    this.name = "StoreRefused";
    this.role = role;
  }
}

/** The identity of a records' store, in one small record beside those of the images. */
export interface StoreIdentity {
  /** Format version of the store. A store with a version above {@link STORE_VERSION} must not be used. */
  v: number;
  /** 128 random bits, hex. Two stores never share an ID. */
  id: string;
  /** Fingerprints of the secrets that PINs were derived from, latest first. */
  secrets: string[];
  /** Unix milliseconds. */
  createdAt: number;
  /** The originals have a store of their own, which carries a mark: without it, the store is not theirs. Absent: not known. */
  originalsApart?: true;
}

/** A stored identity, and its revision for a conditional write. */
export interface HeldIdentity {
  identity: StoreIdentity;
  revision: string;
}

/** Key of the identity in the records' store. No image's key looks like it. */
export const IDENTITY_KEY = "identity";

const IS_BACKUP =
  "This storage is a backup, which is not served. Restore it to another storage with outrigger restore";

/** A fingerprint for each secret of a rotation list: 128 bits, hex, which identify a secret without revealing it. */
export function fingerprintsOf(secret: Secret): string[] {
  return toKeys(secret).map((key) =>
    createHmac("sha256", key).update("outrigger secret fingerprint").digest("hex").slice(0, 32),
  );
}

/** A new identity, for a store without one. */
export function newIdentity(secrets: readonly string[], now: number): StoreIdentity {
  return { v: STORE_VERSION, id: randomBytes(16).toString("hex"), secrets: [...secrets], createdAt: now };
}

/**
 * @returns `null` if the store has no identity. Rejects with `damaged` for an unreadable identity, with `store_unavailable`
 * for a backup, otherwise like the store.
 */
export async function readIdentity(records: BlobStore): Promise<HeldIdentity | null> {
  const blob = await records.get(IDENTITY_KEY);
  if (blob === null) return null;
  return { identity: decodeIdentity(await readAll(blob.body)), revision: blob.revision };
}

/**
 * Writes an identity, by compare-and-set.
 * @param revision Revision of the identity that it replaces; `null`: there must be none.
 * @returns the new revision. Rejects with `conflict` when another process wrote first.
 */
export async function writeIdentity(
  records: BlobStore,
  identity: StoreIdentity,
  revision: string | null,
): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(identity), "utf8");
  return (await records.put(IDENTITY_KEY, bytes, { ifRevision: revision })).revision;
}

/** Writes the identity of a backup, which keeps services from using it. */
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
