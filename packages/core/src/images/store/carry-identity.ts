import type { StorageRoles } from "../record/storage-roles.ts";
import { BYTES_ROLES, readMark, rolesApart, writeMark } from "./role-marks.ts";
import { readIdentity, type StoreIdentity, writeIdentity } from "./store-identity.ts";

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
