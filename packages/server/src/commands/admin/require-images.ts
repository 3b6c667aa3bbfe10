import { StartError } from "../../config/config-error.ts";
import { distinctTargets, type StorageTargets } from "../../config/targets/storage-target.ts";
import { requireDataDirectory } from "../../storage/data-directory.ts";

/**
 * Proves, as far as that can be seen without asking a server, that the images of another process are there to be changed.
 * @throws StartError saying what to do instead.
 */
export function requireImages(targets: StorageTargets): void {
  if (targets.records.kind === "memory") {
    throw new StartError(
      "The images are in the memory of the server's process, where no other reaches them. Keep them elsewhere: OUTRIGGER_STORAGE or storage in the configuration file",
    );
  }
  for (const { target } of distinctTargets(targets)) {
    if (target.kind === "file") requireDataDirectory(target.directory);
  }
}
