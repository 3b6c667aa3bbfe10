import type { Logger } from "pino";
import type { ServerSettings } from "../settings.ts";
import { memoryWarning } from "./memory-warning.ts";
import type { OpenTarget } from "./open-storage.ts";
import { isShared } from "./storage-target.ts";

/** Logs what about the stores could lose images. @throws StartError for one that cannot keep what it is to keep. */
export async function tellWarnings(targets: readonly OpenTarget[], logger: Logger): Promise<void> {
  for (const open of targets) {
    const { roles } = open;
    for (const text of [...memoryWarning(open), ...(await open.warnings())]) logger.warn({ roles }, text);
  }
}

/** Logs that other processes on the same images count requests for themselves, where they do. */
export function tellLimits({ storage, images }: ServerSettings, areShared: boolean, logger: Logger): void {
  if (images?.rateLimits === false || areShared || !isShared(storage.records)) return;
  logger.info("Rate limits count per process: a client has as many requests at each of several servers.");
}
