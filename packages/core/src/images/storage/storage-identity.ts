import type { StorageRoles } from "../../contracts/blob-store.ts";
import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import type { Secret } from "../../secret-bytes.ts";
import { resetNotes } from "../renditions/rendition-notes.ts";
import {
  inspectStores,
  requireKnownFormat,
  requireOurs,
  sampleRecords,
  unmarkedText,
} from "../store/inspect-stores.ts";
import {
  BYTES_ROLES,
  fingerprintsOf,
  type MigrationMark,
  newIdentity,
  readIdentity,
  readMark,
  readMigrationMark,
  removeMigrationMark,
  rolesApart,
  type StoreIdentity,
  StoreRefused,
  writeBackupIdentity,
  writeIdentity,
  writeMark,
  writeMigrationMark,
} from "../store/store-identity.ts";

/** What says whose a storage is and whether it is complete: identity, marks of the roles, mark of a migration. */
export class StorageIdentity {
  readonly #stores: StorageRoles;

  constructor(stores: StorageRoles) {
    this.#stores = stores;
  }

  /** @returns `null` if the storage has no identity. Rejects for a storage of a newer release. */
  async read(): Promise<StoreIdentity | null> {
    const held = await readIdentity(this.#stores.records);
    if (held !== null) requireKnownFormat(held.identity);
    return held?.identity ?? null;
  }

  /** Like {@link read}. Rejects unless the stores of all roles belong together, see `inspectStores`. */
  async inspect(): Promise<StoreIdentity | null> {
    const { held } = await inspectStores(this.#stores, { apart: rolesApart(this.#stores) });
    return held?.identity ?? null;
  }

  /**
   * The identity that a copy of this storage gets: its own, or a new one with the known secrets. `null`: neither is known.
   * Rejects with `conflict` if none of the given secrets belongs to the storage.
   */
  async forCopy(given: Secret | undefined): Promise<StoreIdentity | null> {
    const { records } = this.#stores;
    const identity = (await readIdentity(records))?.identity ?? null;
    const secret = given ?? (isLocalStore(records) ? await records.readLocalSecret() : null);
    const known = secret === null ? [] : fingerprintsOf(secret);
    if (identity === null) return known.length === 0 ? null : newIdentity(known, Date.now());
    if (given === undefined || known.some((each) => identity.secrets.includes(each))) return identity;
    throw new ServiceError(
      "conflict",
      "the secret is not the one that the PINs of the source were made with: give the secret of the old service, or none",
    );
  }

  /** The fingerprints of secrets, as identities hold them. */
  fingerprints(secret: Secret | undefined): string[] {
    return secret === undefined ? [] : fingerprintsOf(secret);
  }

  /**
   * Gives the stores the identity of those that they were filled from, and their marks.
   * Rejects with `conflict` when a service starts on them at the same time.
   */
  async carry(identity: StoreIdentity): Promise<void> {
    const stores = this.#stores;
    const apart = rolesApart(stores);
    const { originalsApart: _, ...kept } = identity;
    const carried = apart.includes("originals") ? { ...kept, originalsApart: true as const } : kept;
    const held = await readIdentity(stores.records);
    try {
      await writeIdentity(stores.records, carried, held?.revision ?? null);
    } catch (error) {
      if (!isServiceError(error, "conflict")) throw error;
      const message = "a service has started to use the target: stop it, and run this again";
      throw new ServiceError("conflict", message);
    }
    for (const role of BYTES_ROLES) {
      const mark = await readMark(stores[role], role);
      const isDue = apart.includes(role) || mark !== null;
      if (isDue && mark?.id !== identity.id) await writeMark(stores[role], role, identity.id, mark);
    }
  }

  /** Marks the storage as a backup, which services reject. @param identity That of the source. */
  async writeBackup(identity: StoreIdentity | null): Promise<void> {
    await writeBackupIdentity(this.#stores.records, identity);
  }

  /**
   * The identity of a storage that is restored into while it is in use. Rejects for a storage of a newer release, and if its
   * originals belong to another storage. The disk of the originals may be lost: a store without a mark passes if it is empty or an
   * interrupted run has filled a part of it.
   * @param backup The records of the backup.
   */
  async inspectForRestore(backup: BlobStore): Promise<StoreIdentity | null> {
    const stores = this.#stores;
    const held = await readIdentity(stores.records);
    if (held !== null) requireKnownFormat(held.identity);
    for (const role of BYTES_ROLES) {
      const mark = await readMark(stores[role], role);
      requireOurs(mark, role, held);
      const isDue = mark === null && role === "originals" && held?.identity.originalsApart === true;
      if (!isDue) continue;
      const { sampled, found } = await sampleRecords(stores.originals, [stores.records, backup]);
      if (found < sampled) throw new StoreRefused(unmarkedText(stores.originals, null), role);
    }
    return held?.identity ?? null;
  }

  /** Whether the originals are proven to be in the right place: in the store of the records, or by their mark. */
  async provesOriginals(): Promise<boolean> {
    const { records, originals } = this.#stores;
    return originals === records || (await readMark(originals, "originals")) !== null;
  }

  /** Marks originals that a repair accepted without their mark, so that the service starts on them. */
  async markOriginals(): Promise<void> {
    const { records, originals } = this.#stores;
    const held = await readIdentity(records);
    if (held?.identity.originalsApart !== true) return;
    if ((await readMark(originals, "originals")) !== null) return;
    await writeMark(originals, "originals", held.identity.id, null);
  }

  /** See {@link readMigrationMark}. */
  migration(): Promise<MigrationMark | null> {
    return readMigrationMark(this.#stores.records);
  }

  /** Writes the mark of a migration or restore to its target, which no service starts on until it has finished. */
  async markMigration(mark: MigrationMark): Promise<void> {
    const { records } = this.#stores;
    await writeMigrationMark(records, mark);
    // What the notes say of stored renditions does not hold of copied ones.
    if (mark.finishedAt === null) await resetNotes(records);
  }

  async removeMigrationMark(): Promise<void> {
    await removeMigrationMark(this.#stores.records);
  }
}
