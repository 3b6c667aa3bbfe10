import { type Job, type JobQueue, ServiceError } from "@outrigger/core";
import { checkOptions, checkValue, type RuleTable, rules } from "@outrigger/core/stores";
import { Queue, WaitingError, Worker } from "bullmq";
import { openBullMqClients, WAIT_S } from "./bullmq/bullmq-clients.ts";
import { beforeDeadline } from "./connection/before-deadline.ts";
import { isReplyError, toServiceError } from "./connection/redis-errors.ts";
import { CONNECTION_RULES, PREFIX_RULE, type RedisOptions, readOptions } from "./connection/redis-options.ts";

export interface BullMqJobQueueOptions extends RedisOptions {
  /**
   * What all keys of the queue begin with; may be that of a store. 1 to 100 letters, digits and `_.:-`.
   * @default "outrigger"
   */
  prefix?: string;
}

const RULES = { ...CONNECTION_RULES, prefix: PREFIX_RULE } satisfies RuleTable<BullMqJobQueueOptions>;

const AT_ONCE = rules.whole(1, 10_000);
const NAME = "images";
/** Nobody reads its events; BullMQ writes them all the same. */
const KEPT_EVENTS = 100;
/** Until a worker tries again what failed for want of a connection. */
const RETRY_MS = 500;

/**
 * A job queue in BullMQ, on one Redis server or a cluster, for workers in any number of processes. Needs the packages `bullmq` and
 * `ioredis`. BullMQ's own tools see it as queue `images` with the prefix `<prefix>:{queue:jobs}`.
 *
 * Connects in the background, and by itself again; nothing but a worker waits for a server that is away. A job that is enqueued
 * while one of its ID is worked on changes nothing either. One whose worker dies is handed out again after about a minute, once.
 *
 * What is wrong with the options is thrown at once, as a `TypeError`.
 */
export function createBullMqJobQueue(options: BullMqJobQueueOptions): JobQueue {
  const { prefix, ...given } = checkOptions("createBullMqJobQueue", options, RULES);
  const settings = readOptions(given);
  const { timeoutMs, onError } = settings;
  const clients = openBullMqClients(settings);
  // Its version would be asked for once, and a failure remembered for ever.
  const shared = { prefix: `${prefix}:{queue:jobs}`, skipVersionCheck: true };
  const queue = new Queue<Job>(NAME, {
    ...shared,
    connection: clients.asking,
    streams: { events: { maxLen: KEPT_EVENTS } },
  });
  // Those of its client, which passes them on itself.
  queue.on("error", () => undefined);
  const underWay = new Set<Promise<void>>();
  let worker: Worker<Job> | undefined;
  let closing: Promise<void> | undefined;

  function checkOpen(): void {
    if (closing !== undefined) throw new ServiceError("store_unavailable", "The job queue is closed.");
  }

  /** Waits no longer than `timeoutMs`, and begins nothing after that. */
  async function ask<T>(work: () => Promise<T>): Promise<T> {
    checkOpen();
    let isLate = false;
    const whenReady = async () => {
      await clients.ready();
      if (isLate) throw new Error("Nobody waits for it any more.");
      return await work();
    };
    try {
      const result = await beforeDeadline(whenReady(), timeoutMs);
      checkOpen();
      return result;
    } catch (error) {
      isLate = true;
      const { message, cause } = toServiceError(isReplyError(error) ? error : (clients.trouble() ?? error));
      // That there is no memory is no fault of whoever uploads.
      throw new ServiceError("store_unavailable", message, { cause });
    }
  }

  async function close(): Promise<void> {
    const closed = Promise.all([worker?.close(), queue.close()]);
    await Promise.allSettled(underWay);
    try {
      await beforeDeadline(closed, timeoutMs);
    } catch {
      // The server cannot be told what is over: its jobs are handed out again, and found to be done.
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
      if (worker !== undefined) throw new TypeError("Somebody works on this job queue already.");
      worker = new Worker<Job>(
        NAME,
        async (job, token) => {
          // One that was on its way when the queue was closed goes back.
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
