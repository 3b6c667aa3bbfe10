import { existsSync } from "node:fs";
import { join } from "node:path";
import { isServiceError, type StoreRole } from "@outrigger/core";
import { inspectStores, rolesApart } from "@outrigger/core/images";
import { distinctTargets, ROLES, type StorageTarget, type StorageTargets } from "@outrigger/core/stores";
import { type OpenStorage, openStorage } from "./open-storage.ts";
import { storageError } from "./storage-error.ts";

/**
 * Verifies that the stores of the roles belong together. Creates nothing: a directory that does not exist counts as an empty store,
 * so that a mount point stays as it is.
 * @throws StartError
 */
export async function inspectTargets(
  targets: StorageTargets,
  inspection: Omit<Parameters<typeof inspectStores>[1], "apart"> = {},
): Promise<void> {
  const { records, originals, renditions } = targets;
  const storage = await openStorage({
    records: existing(records),
    originals: existing(originals),
    renditions: existing(renditions),
  });
  const { stores } = storage;
  try {
    await inspectStores(stores, { ...inspection, apart: rolesApart(stores) });
  } catch (cause) {
    throw await refusalOf(targets, stores, cause);
  } finally {
    await storage.close();
  }
}

/** Whether a store is a directory that opening would create. */
export function lacksStore(target: StorageTarget): boolean {
  return target.kind === "file" && !existsSync(join(target.directory, "blobs"));
}

function existing(target: StorageTarget): StorageTarget {
  return lacksStore(target) ? { kind: "memory" } : target;
}

/** The error for a store that is not the one expected, or does not answer, with the roles that it was to have. */
export async function refusalOf(
  targets: StorageTargets,
  stores: OpenStorage["stores"],
  cause: unknown,
): Promise<Error> {
  const role = refusedRole(cause) ?? (await silentRole(stores));
  const shared = distinctTargets(targets).find(({ roles }) => roles.includes(role));
  return storageError(targets[role], shared?.roles ?? [role], cause);
}

/** The first role whose store does not answer; `records` if all do. */
async function silentRole(stores: OpenStorage["stores"]): Promise<StoreRole> {
  const looks = await Promise.allSettled(ROLES.map((role) => stores[role].stat("identity")));
  return ROLES.find((_, index) => looks[index]?.status === "rejected") ?? "records";
}

/** The role whose store is refused; `null` for an error that names none, such as that of a store that does not answer. */
export function refusedRole(error: unknown): StoreRole | null {
  const role = typeof error === "object" && error !== null && "role" in error ? error.role : undefined;
  return ROLES.find((each) => each === role) ?? (isServiceError(error, "damaged") ? "records" : null);
}
