import { createHmac, randomBytes } from "node:crypto";
import type { BlobStore, StorageRoles } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { ServiceError } from "../../errors.ts";
import { type Secret, toKeys } from "../../secret-bytes.ts";
import { readAll } from "../../stores/blob-body.ts";
import { jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/record-codec.ts";

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
  /** Format version of the store. A store with a version above {@link FORMAT_VERSION} must not be used. */
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
  return { v: FORMAT_VERSION, id: randomBytes(16).toString("hex"), secrets: [...secrets], createdAt: now };
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

/** The mark of a migration in the records' store of its target. */
export interface MigrationMark {
  /** Name of the source, without secrets. */
  source: string;
  /** Unix milliseconds. */
  startedAt: number;
  /** Unix milliseconds; `null`: the target is incomplete, and must not be used. */
  finishedAt: number | null;
  /** `restore`: a restore fills the target, and removes the mark at its end. Absent: a migration fills it. */
  kind?: "restore";
  /** The seen clock of the target when the mark was written: a later time proves that the target was used. */
  seenMs: number | null;
}

const MIGRATION_KEY = "migration/state";

/**
 * Reads the mark of a migration from the records' store; `null`: there is none. A service must not start on the target of
 * an unfinished migration.
 */
export async function readMigrationMark(records: BlobStore): Promise<MigrationMark | null> {
  const blob = await records.get(MIGRATION_KEY);
  if (blob === null) return null;
  const stored = JSON.parse((await readAll(blob.body)).toString("utf8")) as MigrationMark & { v?: unknown };
  const { v, ...mark } = stored; // Only `writeMigrationMark` writes this key.
  requireKnownVersion(v, `The mark of a migration (key "${MIGRATION_KEY}")`);
  return mark;
}

export async function writeMigrationMark(records: BlobStore, mark: MigrationMark): Promise<void> {
  await records.put(MIGRATION_KEY, Buffer.from(JSON.stringify({ v: FORMAT_VERSION, ...mark }), "utf8"));
}

/** Removes the mark when a service starts to use the target, so that no later migration overwrites it. */
export async function removeMigrationMark(records: BlobStore): Promise<void> {
  await records.delete(MIGRATION_KEY);
}

/** A role whose store may be another than that of the records. */
export type BytesRole = Exclude<StoreRole, "records">;

export const BYTES_ROLES = ["originals", "renditions"] as const satisfies readonly BytesRole[];

/** Key of the mark of a role, in the store of that role. Releases without marks ignore it, as they ignore the identity. */
export const markKeyOf = (role: BytesRole): string => `identity/${role}`;

/** The mark of a role: it ties the store to the records. */
export interface HeldMark {
  v: number;
  /** ID in the identity of the records' store. */
  id: string;
  revision: string;
}

/** The roles whose stores are not that of the records. Each carries a mark. */
export function rolesApart(stores: StorageRoles): BytesRole[] {
  return BYTES_ROLES.filter((role) => stores[role] !== stores.records);
}

/** The roles whose marks prove that the stores are still the same, one for each store other than that of the records. */
export function rolesToWatch(stores: StorageRoles, isMarked: boolean): BytesRole[] {
  const apart = rolesApart(stores).filter((role) => role === "renditions" || isMarked);
  const isShared = apart.includes("originals") && stores.renditions === stores.originals;
  return isShared ? ["originals"] : apart;
}

/** @returns `null` if the store has no mark of the role. Rejects with `damaged` for an unreadable one, otherwise like the store. */
export async function readMark(store: BlobStore, role: BytesRole): Promise<HeldMark | null> {
  const key = markKeyOf(role);
  const blob = await store.get(key);
  if (blob === null) return null;
  const { v, id } = Object(jsonIn(await readAll(blob.body))) as { v?: unknown; id?: unknown }; // Checked here.
  if (typeof v === "number" && typeof id === "string") return { v, id, revision: blob.revision };
  const message = `The mark of the ${role} (key "${key}") cannot be read`;
  throw Object.assign(new ServiceError("damaged", message), { role });
}

/** Writes a mark, by compare-and-set: rejects with `conflict` if the store has another than `over`. */
export async function writeMark(
  store: BlobStore,
  role: BytesRole,
  id: string,
  over: HeldMark | null,
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ v: FORMAT_VERSION, id }), "utf8");
  await store.put(markKeyOf(role), bytes, { ifRevision: over?.revision ?? null });
}
