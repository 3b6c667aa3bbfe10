import { isShared, type SharedTarget } from "@outrigger/core/stores";
import type { Logger } from "pino";
import type { ServerSettings } from "../config/settings.ts";
import { endMigration } from "./end-migration.ts";
import type { OpenTarget } from "./open-storage.ts";

/**
 * Logs warnings about stores that could lose images, and marks the stores as in use, so that no migration overwrites them.
 * @throws StartError for a store that cannot serve its roles, or holds only some of the images.
 */
export async function logWarnings(targets: readonly OpenTarget[], logger: Logger): Promise<void> {
  await endMigration(targets);
  for (const open of targets) {
    const { roles } = open;
    for (const text of [...memoryWarning(open), ...(await open.warnings())]) logger.warn({ roles }, text);
  }
}

/** Logs that each process on the same images counts requests separately, if that is so. */
export function logUnsharedLimits(
  { storage, images }: ServerSettings,
  areShared: boolean,
  logger: Logger,
): void {
  const isCounted = images?.rateLimits !== false || images.renderBudget !== false;
  if (!isCounted || areShared || !isShared(storage.records)) return;
  logger.info("Rate limits count per process: a client may use the full limit at each server.");
}

/** A warning with its remedy if the images end with the process; otherwise empty. */
export function memoryWarning({ target, roles }: SharedTarget): string[] {
  if (target.kind !== "memory" || !roles.includes("records")) return [];
  return [
    "All images are in memory and are lost when the process ends. To keep them, set storage or data, or omit both.",
  ];
}
