import { createImageAdmin, type StorageAdmin } from "@outrigger/core";
import { reasonOf } from "../error-reason.ts";
import { loadConfig, type ServeFlags } from "../load-config.ts";
import { settingsOf } from "../settings.ts";
import { requireMigrated } from "../storage/end-migration.ts";
import { openStorage } from "../storage/open-storage.ts";
import { requireImages } from "./require-images.ts";

/** The options that say where the images are, as they were typed. */
export type DataFlags = Pick<ServeFlags, "config" | "data">;

/**
 * Runs `work` with an administrator of the images that a server with this configuration serves. The server may be running.
 * @throws ConfigError, and StartError where there are no images.
 */
export async function withAdmin(
  flags: DataFlags,
  work: (admin: StorageAdmin) => Promise<void>,
): Promise<void> {
  const { storage, images } = settingsOf(await loadConfig(flags, process.env));
  requireImages(storage);
  const { stores, targets } = await openStorage(storage);
  const admin = createImageAdmin({
    storage: stores,
    ...(images?.tombstoneDays === undefined ? {} : { tombstoneDays: images.tombstoneDays }),
    onError: (error) => process.stderr.write(`outrigger: ${reasonOf(error)}\n`),
  });
  try {
    await requireMigrated(targets);
    await work(admin);
  } finally {
    await admin.close();
  }
}
