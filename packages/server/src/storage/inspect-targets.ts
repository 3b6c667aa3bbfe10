import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StoreRole } from "@outrigger/core";
import { inspectStores, rolesApart } from "@outrigger/core/images";
import {
  distinctTargets,
  ROLES,
  type StorageTarget,
  type StorageTargets,
} from "@outrigger/core/open-storage";
import { openStorage } from "./open-storage.ts";
import { storageError } from "./storage-error.ts";

/**
 * Verifies that the stores of the roles belong together. Creates nothing: a directory that does not exist counts as an empty store,
 * so that a mount point stays as it is.
 * @throws StartError
 */
export async function inspectTargets(targets: StorageTargets, requireStore = false): Promise<void> {
  const { records, originals, renditions } = targets;
  const storage = await openStorage({
    records: existing(records),
    originals: existing(originals),
    renditions: existing(renditions),
  });
  const { stores } = storage;
  try {
    await inspectStores(stores, { apart: rolesApart(stores), requireStore });
  } catch (cause) {
    throw refusalOf(targets, cause);
  } finally {
    await storage.close();
  }
}

/** Whether the stores include a directory that opening would create. */
export function lacksDirectory(targets: StorageTargets): boolean {
  return ROLES.some((role) => existing(targets[role]) !== targets[role]);
}

function existing(target: StorageTarget): StorageTarget {
  const isMissing = target.kind === "file" && !existsSync(join(target.directory, "blobs"));
  return isMissing ? { kind: "memory" } : target;
}

/** The error for a store that is not the one expected, with the roles that it was to have. */
export function refusalOf(targets: StorageTargets, cause: unknown): Error {
  const role = refusedRole(cause);
  const shared = distinctTargets(targets).find(({ roles }) => roles.includes(role));
  return storageError(targets[role], shared?.roles ?? [role], cause);
}

/** The role whose store is refused; `records` for any other error. */
export function refusedRole(error: unknown): StoreRole {
  const role = typeof error === "object" && error !== null && "role" in error ? error.role : undefined;
  return ROLES.find((each) => each === role) ?? "records";
}
