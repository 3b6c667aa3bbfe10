import { createImageAdmin, type ImageAdminOptions, isServiceError, type StorageAdmin } from "@outrigger/core";
import type { StorageTargets } from "@outrigger/core/stores";
import { reasonOf } from "../../cli/error-reason.ts";
import { note } from "../../cli/print.ts";
import { StartError } from "../../config/config-error.ts";
import { type DataFlags, loadConfig } from "../../config/load-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { requireDataDirectories } from "../../storage/data-directory.ts";
import { requireMigrated } from "../../storage/end-migration.ts";
import { refusalOf, refusedRole } from "../../storage/inspect-targets.ts";
import { type OpenStorage, openStorage } from "../../storage/open-storage.ts";

/**
 * Runs `work` with the admin API of the images that a server with this configuration serves. The server may be running.
 * @param onError Prints an error after which the work goes on. @default the exit code stays the same
 * @throws ConfigError, and StartError if there are no images.
 */
export async function withAdmin(
  flags: DataFlags,
  work: (admin: StorageAdmin) => Promise<void>,
  onError: (message: string) => void = note,
): Promise<void> {
  await withImages(flags, async ({ stores, options }) => {
    const reporting = { ...options, onError: (error: unknown) => onError(reasonOf(error)) };
    const admin = createImageAdmin({ storage: stores, ...reporting });
    await work(admin).finally(() => admin.close());
  });
}

/** The open stores of the images. */
export interface OpenImages {
  stores: OpenStorage["stores"];
  targets: StorageTargets;
  /** Options of the admin API. */
  options: Pick<ImageAdminOptions, "tombstoneDays" | "webhooks" | "onError">;
}

/** Like {@link withAdmin}, but with the stores. */
export async function withImages(
  flags: DataFlags,
  work: (images: OpenImages) => Promise<void>,
): Promise<void> {
  const { storage, images } = settingsOf(await loadConfig(flags, process.env));
  requireImages(storage);
  const { stores, targets, close } = await openStorage(storage);
  const options = {
    tombstoneDays: images.tombstoneDays,
    webhooks: images.webhooks,
    onError: (error: unknown) => note(reasonOf(error)),
  };
  try {
    await requireMigrated(targets);
    await work({ stores, targets: storage, options });
  } catch (error) {
    const cause = error instanceof StartError ? error.cause : error;
    const isRefused = isServiceError(cause, "store_unavailable") && refusedRole(cause) !== null;
    throw isRefused ? await refusalOf(storage, stores, cause) : error;
  } finally {
    await close();
  }
}

/**
 * Verifies, without contacting a storage server, that images of other processes can be changed.
 * @throws StartError with the remedy.
 */
export function requireImages(targets: StorageTargets): void {
  if (targets.records.kind === "memory") {
    throw new StartError(
      "The images are in the memory of the server, which other processes cannot access. Set OUTRIGGER_STORAGE, or storage in the configuration file, to persistent storage",
    );
  }
  // A lost directory of renditions is made again.
  requireDataDirectories([targets.records, targets.originals]);
}
