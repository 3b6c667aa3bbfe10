import { statSync } from "node:fs";
import { join } from "node:path";
import type { StoreRole } from "@outrigger/core";
import { distinctTargets, ROLES, type StorageTargets } from "@outrigger/core/stores";
import { checkConfig } from "../../../config/check-config.ts";
import { ConfigError, StartError } from "../../../config/config-error.ts";
import { readStorageText, targetsOf } from "../../../config/storage-config.ts";
import { requireDataDirectory } from "../../../storage/data-directory.ts";

const SOURCE = "The command line";

/** The source and target of a copy. */
export interface Sides {
  from: StorageTargets;
  to: StorageTargets;
}

/** Reads `--from` and `--to`. @throws ConfigError; StartError if the source does not exist. */
export function readSides(from: string, to: string): Sides {
  const sides = { from: readSide(from, "--from"), to: readSide(to, "--to") };
  requireApart(sides);
  requireDirectories(sides.from);
  return sides;
}

/** Reads `--from` of a command that changes `to`. @throws ConfigError; StartError if the source does not exist. */
export function readSource(from: string, to: StorageTargets): StorageTargets {
  const source = readSide(from, "--from");
  if (ROLES.some((role) => ROLES.some((other) => isSame(source[role], to[other])))) {
    throw new ConfigError(SOURCE, ["--from: must differ from the storage being repaired"]);
  }
  requireDirectories(source);
  return source;
}

/** Verifies that the directories of `--from` exist and belong to this user. @throws StartError */
export function requireDirectories(from: StorageTargets): void {
  for (const { target } of distinctTargets(from)) {
    if (target.kind !== "file") continue;
    // Opening a missing directory would create it.
    if (!statSync(join(target.directory, "blobs"), { throwIfNoEntry: false })?.isDirectory()) {
      throw new StartError(
        `${target.directory} is not a data directory of Outrigger: set the right one with --from`,
      );
    }
    requireDataDirectory(target.directory);
  }
}

export function readSide(text: string, flag: string): StorageTargets {
  const { storage } = checkConfig({ storage: readStorageText(text, SOURCE, flag) }, SOURCE, (key) => {
    return key.replace(/^storage/, flag);
  });
  const targets = targetsOf(storage, undefined);
  if (ROLES.some((role) => targets[role].kind === "memory")) {
    throw new ConfigError(SOURCE, [
      `${flag}: must not be memory:, which other processes cannot access; for renditions, name the store of the originals`,
    ]);
  }
  return targets;
}

/** Even one shared role is rejected: changes to the target must not change the source. */
function requireApart({ from, to }: Sides): void {
  const shared = (role: StoreRole) => ROLES.some((other) => isSame(from[role], to[other]));
  if (!ROLES.some(shared)) return;
  throw new ConfigError(SOURCE, ["--to: must not share a store with --from"]);
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
