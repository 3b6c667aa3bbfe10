import type { Job, JobQueue } from "../src/contracts/job-queue.ts";
import { ServiceError } from "../src/errors.ts";

/** The state that the queues of several processes share. */
export interface SharedQueue {
  /** The queue of one process. */
  open(): JobQueue;
  /** IDs of the waiting jobs. */
  readonly waiting: string[];
  /** Whether calls fail from now on. */
  isAway: boolean;
}

interface Worker {
  handler(job: Job): Promise<void>;
  free: number;
  tasks: Set<Promise<void>>;
}

/** Hands each job to the worker with the most free slots. */
export function createSharedQueue(): SharedQueue {
  const waiting = new Map<string, Job>();
  const workers = new Set<Worker>();

  function handOut(): void {
    for (const [id, job] of waiting) {
      const [worker] = [...workers].filter(({ free }) => free > 0).sort((a, b) => b.free - a.free);
      if (worker === undefined) return;
      waiting.delete(id);
      worker.free--;
      const task = worker.handler(job).then(() => {
        worker.free++;
        worker.tasks.delete(task);
        handOut();
      });
      worker.tasks.add(task);
    }
  }

  const shared: SharedQueue = {
    isAway: false,
    get waiting() {
      return [...waiting.keys()];
    },
    open() {
      let worker: Worker | undefined;
      const check = () => {
        if (shared.isAway) throw new ServiceError("store_unavailable", "The queue is unavailable");
      };
      return {
        async enqueue(job) {
          check();
          if (!waiting.has(job.id)) waiting.set(job.id, job);
          handOut();
        },
        work(handler, atOnce) {
          worker = { handler, free: atOnce, tasks: new Set() };
          workers.add(worker);
          handOut();
        },
        async waiting() {
          check();
          return waiting.size;
        },
        async close() {
          if (worker === undefined) return;
          workers.delete(worker);
          await Promise.all(worker.tasks);
        },
      };
    },
  };
  return shared;
}
