import { ServiceError } from "@outrigger/core";
import {
  checkOptions,
  checkValue,
  type Job,
  type JobQueue,
  type RuleTable,
  rules,
} from "@outrigger/core/stores";
import { Queue, WaitingError, Worker } from "bullmq";
import { openBullMqClients, WAIT_S } from "./bullmq/bullmq-clients.ts";
import { beforeDeadline } from "./connection/before-deadline.ts";
import { isReplyError, toServiceError } from "./connection/redis-errors.ts";
import { CONNECTION_RULES, PREFIX_RULE, type RedisOptions, readOptions } from "./connection/redis-options.ts";

export interface BullMqJobQueueOptions extends RedisOptions {
  /**
   * Prefix of all keys of the queue: 1 to 100 characters of letters, digits and `_.:-`. A store may use the
   * same prefix.
   * @default "outrigger"
   */
  prefix?: string | undefined;
}

const RULES = { ...CONNECTION_RULES, prefix: PREFIX_RULE } satisfies RuleTable<BullMqJobQueueOptions>;

const AT_ONCE = rules.whole(1, 10_000);
const NAME = "images";
/** Length of BullMQ's event stream. Outrigger does not read it, but BullMQ always writes it. */
const KEPT_EVENTS = 100;
/** Pause before a worker retries a command that failed because the connection was lost. */
const RETRY_MS = 500;

/**
 * A job queue in BullMQ, on one Redis server or a cluster, for workers in any number of processes. Needs the
 * packages `bullmq` and `ioredis`. BullMQ's own tools see it as queue `images` with the prefix
 * `<prefix>:{queue:jobs}`.
 *
 * Connects and reconnects in the background; only a worker waits for an unavailable server. Enqueueing an ID that
 * waits or is being processed changes nothing. If a worker dies, its job is delivered once more, after about a
 * minute.
 *
 * Invalid options throw a `TypeError` at once.
 */
export function createBullMqJobQueue(options: BullMqJobQueueOptions): JobQueue {
  const { prefix, ...given } = checkOptions("createBullMqJobQueue", options, RULES);
  const settings = readOptions(given);
  const { timeoutMs, onError } = settings;
  const clients = openBullMqClients(settings);
  // BullMQ would request the server's version once and remember a failure for ever.
  const shared = { prefix: `${prefix}:{queue:jobs}`, skipVersionCheck: true };
  const queue = new Queue<Job>(NAME, {
    ...shared,
    connection: clients.asking,
    streams: { events: { maxLen: KEPT_EVENTS } },
  });
  // The queue repeats errors of its client, which reports them itself.
  queue.on("error", () => undefined);
  const underWay = new Set<Promise<void>>();
  let worker: Worker<Job> | undefined;
  let closing: Promise<void> | undefined;

  function checkOpen(): void {
    if (closing !== undefined) throw new ServiceError("store_unavailable", "The job queue is closed.");
  }

  /**
   * Runs `work` once the client is ready; rejects after `timeoutMs` and then does not start `work` any more.
   */
  async function ask<T>(work: () => Promise<T>): Promise<T> {
    checkOpen();
    let isLate = false;
    const whenReady = async () => {
      await clients.ready();
      if (isLate) throw new Error("The call has timed out.");
      return await work();
    };
    try {
      const result = await beforeDeadline(whenReady(), timeoutMs);
      checkOpen();
      return result;
    } catch (error) {
      isLate = true;
      const { message, cause } = toServiceError(isReplyError(error) ? error : (clients.trouble() ?? error));
      // Always `store_unavailable`: missing memory of the queue's server is not the client's fault.
      throw new ServiceError("store_unavailable", message, { cause });
    }
  }

  async function close(): Promise<void> {
    const closed = Promise.all([worker?.close(), queue.close()]);
    await Promise.allSettled(underWay);
    try {
      await beforeDeadline(closed, timeoutMs);
    } catch {
      // The server cannot be notified of finished jobs: it delivers them again, and their handlers find them
      // done.
    }
    clients.disconnect();
  }

  return {
    async enqueue({ id, createdAt }) {
      const keep = { removeOnComplete: true, removeOnFail: true };
      await ask(() => queue.add(NAME, { id, createdAt }, { jobId: id, attempts: 1, ...keep }));
    },

    work(handler, atOnce) {
      checkOpen();
      checkValue("atOnce", atOnce, AT_ONCE);
      if (worker !== undefined)
        throw new TypeError("This job queue has a worker already: call work() once per queue.");
      worker = new Worker<Job>(
        NAME,
        async (job, token) => {
          // A job delivered while the queue was closing returns to the queue.
          if (closing !== undefined) {
            await job.moveToWait(token);
            throw new WaitingError();
          }
          const work = handler({ id: job.data.id, createdAt: job.data.createdAt });
          underWay.add(work);
          await work.finally(() => underWay.delete(work));
        },
        {
          ...shared,
          connection: clients.openWorking(),
          concurrency: atOnce,
          drainDelay: WAIT_S,
          runRetryDelay: RETRY_MS,
        },
      );
      worker.on("error", (error) => queueMicrotask(() => onError(error)));
    },

    waiting: () => ask(() => queue.getWaitingCount()),

    close() {
      closing ??= close();
      return closing;
    },
  };
}
