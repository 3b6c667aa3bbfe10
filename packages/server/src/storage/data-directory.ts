import { statSync } from "node:fs";
import { join } from "node:path";
import { directoryReasonOf } from "../cli/error-reason.ts";
import { StartError } from "../config/config-error.ts";

const NAME_ANOTHER =
  "Name the right one by --data, OUTRIGGER_DATA, OUTRIGGER_STORAGE or the configuration file";

/**
 * Proves that a server keeps its images at `directory`, and that this user may change them without taking them away from it.
 * Nothing is made: a misspelt path must not become an empty store.
 * @param userId Of this process; `undefined` where the system has none.
 * @throws StartError saying what to do instead.
 */
export function requireDataDirectory(directory: string, userId = process.getuid?.()): void {
  const owner = ownerOf(directory);
  // Files are made for their user alone: what root writes here, the server could not read any more.
  if (userId === undefined || owner === userId) return;
  throw new StartError(
    `The images in ${directory} belong to the user with the number ${owner}, this user's is ${userId}. Run it as that user, e.g. by sudo -u '#${owner}'`,
  );
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
