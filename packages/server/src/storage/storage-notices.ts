import type { Logger } from "pino";
import type { ServerSettings } from "../config/settings.ts";
import { isShared, type SharedTarget } from "../config/targets/storage-target.ts";
import { endMigration } from "./end-migration.ts";
import type { OpenTarget } from "./open-storage.ts";

/**
 * Logs what about the stores could lose images. From now on they are in use: no migration overwrites them.
 * @throws StartError for one that cannot keep what it is to keep, or has a part only.
 */
export async function logWarnings(targets: readonly OpenTarget[], logger: Logger): Promise<void> {
  await endMigration(targets);
  for (const open of targets) {
    const { roles } = open;
    for (const text of [...memoryWarning(open), ...(await open.warnings())]) logger.warn({ roles }, text);
  }
}

/** Logs that other servers find the uploads of this one by polling only. */
export function logUnworkedUploads({ jobQueue, images }: ServerSettings, logger: Logger): void {
  if (images?.processUploads !== false || jobQueue !== undefined) return;
  logger.warn(
    "This server works on no uploads (images.processUploads), and others find what it accepts only by looking now and then: set jobQueue.",
  );
}

/** Logs that other processes on the same images count requests for themselves, where they do. */
export function logUnsharedLimits(
  { storage, images }: ServerSettings,
  areShared: boolean,
  logger: Logger,
): void {
  const isCounted = images?.rateLimits !== false || images.renderBudget !== false;
  if (!isCounted || areShared || !isShared(storage.records)) return;
  logger.info("Rate limits count per process: a client has as many requests at each of several servers.");
}

/** A sentence about images that do not outlive the process, and one with the remedy; none where they do. */
export function memoryWarning({ target, roles }: SharedTarget): string[] {
  if (target.kind !== "memory" || !roles.includes("records")) return [];
  return [
    "All images are in memory: they are gone when the process ends. To keep them, set storage or data, or leave both away.",
  ];
}
