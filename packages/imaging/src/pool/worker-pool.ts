import { ServiceError, type WorkOptions } from "@outrigger/core";
import { type ChildWorker, type ChildWorkerOptions, needsMemory, startChildWorker } from "./child-worker.ts";
import { createMemoryWatch } from "./memory-watch.ts";

/** A bounded number of workers and a bounded queue before them. */
export interface WorkerPoolOptions extends ChildWorkerOptions {
  /** Processes. */
  workers: number;
  /** Tasks that may wait when every worker is busy. */
  maxQueue: number;
  /** Tasks after which a worker is replaced. */
  maxTasksPerWorker: number;
  /** Bytes of resident memory after a task over which a worker is replaced. */
  maxRestingBytes: number;
  /**
   * Bytes of resident memory of all workers together. When they come to more, the task that began last is taken back, and
   * done again when no other is under way.
   */
  maxTotalMemoryBytes: number;
}

/** Runs tasks in processes, first come first served. */
export interface WorkerPool<Task, Result> {
  /**
   * Rejects as {@link ChildWorker.run} does, with `overloaded` when the queue is full or the pool closed, and with
   * `signal.reason` when `signal` is aborted before a worker has begun. A task that was begun twice costs what both took.
   */
  run(task: Task, work?: WorkOptions): Promise<Result>;
  /** Kills the workers, rejects every task with `overloaded`, and resolves when the processes are gone. */
  close(): Promise<void>;
}

interface Job<Task, Result> {
  task: Task;
  /** Whether it is to be done while nothing else is, so that it has all memory to itself. */
  isAlone: boolean;
  /** CPU milliseconds that it has taken so far. */
  cpuMs: number;
  onCost(cpuMs: number): void;
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** Stops listening to its signal. */
  release(): void;
}

/** What a task is taken to last until one has been measured. */
const FIRST_GUESS_MS = 250;
const MAX_RETRY_AFTER_MS = 60_000;

/** Why a worker was killed whose task will be done again. */
const CROWDED = new ServiceError("overloaded", "This render makes room for another.");

/** Starts no worker before there is something to do. A worker that dies is replaced when the next task needs one. */
export function createWorkerPool<Task extends object, Result>(
  options: WorkerPoolOptions,
): WorkerPool<Task, Result> {
  type Worker = ChildWorker<Task, Result>;
  const waiting: Job<Task, Result>[] = [];
  /** Alive, whatever they do. */
  const members = new Set<Worker>();
  const idle: Worker[] = [];
  const tasksDone = new WeakMap<Worker, number>();
  /** Not gone yet, killed ones included. */
  const processes = new Set<Worker>();
  const memory = createMemoryWatch(options, () =>
    idle.reduce((bytes, worker) => bytes + worker.restingBytes(), 0),
  );
  let starting = 0;
  let underWay = 0;
  let closed = false;
  let averageMs = FIRST_GUESS_MS;

  const dispatch = (): void => {
    while (waiting.length > 0) {
      // The others come to an end, and none begins before it.
      if (waiting[0]?.isAlone && underWay > 0) return;
      const worker = idle.pop();
      if (worker === undefined) break;
      const job = waiting.shift();
      if (worker.isAlive() && job !== undefined) void work(worker, job);
      else if (job !== undefined) waiting.unshift(job);
    }
    while (starting < waiting.length && members.size < options.workers) void start();
  };

  const forget = (worker: Worker): void => {
    members.delete(worker);
    const place = idle.indexOf(worker);
    if (place >= 0) idle.splice(place, 1);
  };

  const start = async (): Promise<void> => {
    const worker = startChildWorker<Task, Result>(options);
    members.add(worker);
    processes.add(worker);
    starting++;
    void worker.gone.then(() => {
      forget(worker);
      processes.delete(worker);
    });
    try {
      await worker.ready;
      idle.push(worker);
    } catch (error) {
      forget(worker);
      // One task per failed start, so that a lasting failure is told to everyone and tried for everyone.
      const job = waiting.shift();
      job?.release();
      job?.reject(error);
    } finally {
      starting--;
    }
    dispatch();
  };

  const work = async (worker: Worker, job: Job<Task, Result>): Promise<void> => {
    job.release();
    const begun = performance.now();
    underWay++;
    const unwatch = memory.add({
      residentBytes: () => worker.residentBytes(),
      onExcess: () => worker.kill(needsMemory(options.maxMemoryBytes)),
      onCrowding: () => worker.kill(CROWDED),
    });
    try {
      const result = await worker.run(job.task, (cpuMs) => {
        job.cpuMs += cpuMs;
      });
      job.onCost(job.cpuMs);
      job.resolve(result);
    } catch (error) {
      if (error === CROWDED && !closed) waiting.unshift({ ...job, isAlone: true });
      else {
        job.onCost(job.cpuMs);
        job.reject(error);
      }
    } finally {
      underWay--;
      unwatch();
    }
    averageMs += (performance.now() - begun - averageMs) / 8;
    const done = (tasksDone.get(worker) ?? 0) + 1;
    tasksDone.set(worker, done);
    if (done >= options.maxTasksPerWorker || worker.restingBytes() > options.maxRestingBytes) {
      // Nothing runs in it that could be told the reason.
      worker.kill(closedError());
    }
    if (worker.isAlive()) idle.push(worker);
    else forget(worker);
    dispatch();
  };

  const overloaded = (): ServiceError => {
    const ahead = waiting.length + options.workers;
    const retryAfterMs = Math.ceil(Math.min(MAX_RETRY_AFTER_MS, (averageMs * ahead) / options.workers));
    return new ServiceError("overloaded", "Too many images are waiting to be rendered.", { retryAfterMs });
  };

  return {
    run(task, { signal, onCost = () => undefined } = {}) {
      if (closed) return Promise.reject(closedError());
      if (signal?.aborted) return Promise.reject(signal.reason);
      const busy = members.size - idle.length - starting;
      if (waiting.length >= options.maxQueue + options.workers - busy) return Promise.reject(overloaded());
      return new Promise<Result>((resolve, reject) => {
        const abandon = (): void => {
          waiting.splice(waiting.indexOf(job), 1);
          reject(signal?.reason);
        };
        const job: Job<Task, Result> = {
          task,
          isAlone: false,
          cpuMs: 0,
          onCost,
          resolve,
          reject,
          release: () => signal?.removeEventListener("abort", abandon),
        };
        signal?.addEventListener("abort", abandon, { once: true });
        waiting.push(job);
        dispatch();
      });
    },
    async close() {
      closed = true;
      for (const job of waiting.splice(0)) {
        job.release();
        job.reject(closedError());
      }
      const leaving = [...processes];
      for (const worker of leaving) worker.kill(closedError());
      await Promise.all(leaving.map((worker) => worker.gone));
    },
  };
}

function closedError(): ServiceError {
  return new ServiceError("overloaded", "The renderer is closed.", { retryAfterMs: 1000 });
}
