import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import type { Secret } from "../record/pin.ts";
import type { StorageRoles } from "../record/storage-roles.ts";
import { BYTES_ROLES, readMark, rolesApart, writeMark } from "./role-marks.ts";
import {
  fingerprintsOf,
  newIdentity,
  readIdentity,
  type StoreIdentity,
  writeIdentity,
} from "./store-identity.ts";

/**
 * Gives stores the identity of those that they were filled from, and their marks.
 * Rejects with `conflict` when a service starts on them at the same time.
 */
export async function carryIdentity(to: StorageRoles, identity: StoreIdentity): Promise<void> {
  const apart = rolesApart(to);
  const { originalsApart: _, ...kept } = identity;
  const carried = apart.includes("originals") ? { ...kept, originalsApart: true as const } : kept;
  const held = await readIdentity(to.records);
  await writeIdentity(to.records, carried, held?.revision ?? null);
  for (const role of BYTES_ROLES) {
    const mark = await readMark(to[role], role);
    const isDue = apart.includes(role) || mark !== null;
    if (isDue && mark?.id !== identity.id) await writeMark(to[role], role, identity.id, mark);
  }
}

/**
 * The identity that a copy of these records gets: theirs, or a new one with the known secrets. `null`: neither is known.
 * Rejects with `conflict` if none of the given secrets belongs to the records.
 */
export async function identityToCarry(
  records: BlobStore,
  given: Secret | undefined,
): Promise<StoreIdentity | null> {
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
