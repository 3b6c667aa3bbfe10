import { isError, type JobQueue } from "@outrigger/core";
import { StartError } from "../config/config-error.ts";
import { parseRedisUrl } from "../config/targets/parse-redis-url.ts";

/**
 * Opens the queue that hands uploads to the processes which have time for them. BullMQ is loaded by this only: most servers
 * have no use for it.
 * @param url as `jobQueue` of the configuration.
 * @throws StartError without BullMQ.
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
