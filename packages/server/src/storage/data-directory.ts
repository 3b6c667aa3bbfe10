import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StorageTarget } from "@outrigger/core/stores";
import { directoryReasonOf } from "../cli/error-reason.ts";
import { StartError } from "../config/config-error.ts";

const NAME_ANOTHER =
  "Set it with --data, OUTRIGGER_DATA, OUTRIGGER_STORAGE, the configuration file, or --from";

/** Verifies the data directories among stores, as {@link requireDataDirectory} does. @throws StartError */
export function requireDataDirectories(targets: readonly StorageTarget[]): void {
  for (const target of targets) if (target.kind === "file") requireDataDirectory(target.directory);
}

/**
 * Verifies that `directory` is a data directory and belongs to this user, so that the server can read the files written here.
 * Creates nothing: a misspelt path must not become an empty store.
 * @param userId User ID of this process; `undefined` on systems without user IDs.
 * @throws StartError with the remedy.
 */
export function requireDataDirectory(directory: string, userId = process.getuid?.()): void {
  requireOwner(`The images in ${directory} belong`, ownerOf(directory), userId);
}

/**
 * Files are readable by their owner only: the server could not read a file written by root.
 * @param subject Start of the message, e.g. `The images in ./data belong`.
 * @throws StartError for another user.
 */
export function requireOwner(subject: string, owner: number, userId = process.getuid?.()): void {
  if (userId === undefined || owner === userId) return;
  throw new StartError(
    `${subject} to user ID ${owner}, but this process runs as ${userId}. Run the command as the owner, e.g. with sudo -u '#${owner}'`,
  );
}

/**
 * Refuses to start as root over the data of another user, who could not read what root writes. Creates nothing.
 * @throws StartError
 */
export function refuseRoot(targets: readonly StorageTarget[], userId = process.getuid?.()): void {
  if (userId !== 0) return;
  for (const target of targets) {
    if (target.kind !== "file") continue;
    const path = join(target.directory, "blobs");
    // Below a file there is none either; the store says so.
    const found = existsSync(path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (found !== undefined) requireOwner(`The images in ${target.directory} belong`, found.uid, userId);
  }
}

function ownerOf(directory: string): number {
  const blobs = join(directory, "blobs");
  try {
    const found = statSync(blobs, { throwIfNoEntry: false });
    if (found?.isDirectory()) return found.uid;
  } catch (cause) {
    throw new StartError(`The data directory ${directory} cannot be used: ${directoryReasonOf(cause)}`, {
      cause,
    });
  }
  const isThere = statSync(directory, { throwIfNoEntry: false }) !== undefined;
  const what = isThere
    ? `${directory} is not a data directory of Outrigger: there is no ${blobs}`
    : `There is no data directory ${directory}`;
  throw new StartError(`${what}. ${NAME_ANOTHER}`);
}
