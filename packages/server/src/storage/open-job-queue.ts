import { type JobQueue, parseRedisUrl } from "@outrigger/core/stores";
import { loadPart } from "../cli/parts.ts";

/**
 * Opens the queue that distributes uploads among processes. Loads BullMQ here only, since most servers do not use it.
 * @param url The key `jobQueue` of the configuration.
 * @throws StartError if BullMQ is not installed.
 */
export async function openJobQueue(url: string, onTrouble: (error: unknown) => void): Promise<JobQueue> {
  const { createBullMqJobQueue } = await loadPart("jobQueue", () => import("@outrigger/redis/bullmq"));
  const { kind: _, ttlMs: _ttlMs, ...options } = parseRedisUrl(url);
  return createBullMqJobQueue({ ...options, onError: onTrouble });
}
