import type { BlobStore } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION } from "../record/known-version.ts";
import type { StorageRoles } from "../record/storage-roles.ts";

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
