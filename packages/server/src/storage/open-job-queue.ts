import { isError, type JobQueue } from "@outrigger/core";
import { StartError } from "../config/config-error.ts";
import { parseRedisUrl } from "../config/targets/parse-redis-url.ts";

/**
 * Opens the queue that distributes uploads among processes. Loads BullMQ here only, since most servers do not use it.
 * @param url The key `jobQueue` of the configuration.
 * @throws StartError if BullMQ is not installed.
 */
export async function openJobQueue(url: string, onTrouble: (error: unknown) => void): Promise<JobQueue> {
  const { createBullMqJobQueue } = await loadBullMq();
  const { kind: _, ttlMs: _ttlMs, ...options } = parseRedisUrl(url);
  return createBullMqJobQueue({ ...options, onError: onTrouble });
}

async function loadBullMq(): Promise<typeof import("@outrigger/redis/bullmq")> {
  try {
    return await import("@outrigger/redis/bullmq");
  } catch (cause) {
    const isMissing = isError(cause) && /'(?:bullmq|ioredis)'/.test(cause.message);
    if (!isMissing) throw cause;
    throw new StartError("A job queue needs BullMQ: npm install bullmq ioredis", { cause });
  }
}
