import { ServiceError } from "@outrigger/core";
import type { SandboxLevel, WorkOptions } from "@outrigger/core/images";
import { type ChildWorker, type ChildWorkerOptions, startChildWorker } from "./child-worker.ts";
import { needsMemory } from "./failures.ts";
import { createMemoryWatch, type MemoryWatch } from "./memory-watch.ts";
import { type LevelSearch, noSandbox } from "./sandbox/levels.ts";
import type { Request } from "./worker-pipe.ts";

/** Options of {@link createWorkerPool}: a bounded number of workers and a bounded queue. */
export interface WorkerPoolOptions extends ChildWorkerOptions {
  /** The level of the worker processes. */
  levels: LevelSearch;
  /** Worker processes at most. */
  workers: number;
  /** Tasks that may wait while every worker is busy. */
  maxQueue: number;
  /** Tasks after which a worker is replaced. */
  maxTasksPerWorker: number;
  /** Bytes of resident memory after a task above which a worker is replaced. */
  maxRestingBytes: number;
  /**
   * Bytes of resident memory of all workers together. Above it, the task that began last is stopped and queued again;
   * it then runs alone.
   */
  maxTotalMemoryBytes: number;
}

/** Runs tasks in worker processes, in the order of their arrival. */
export interface WorkerPool {
  /**
   * Rejects as {@link ChildWorker.run} does, with `overloaded` when the queue is full or the pool is closed, and with
   * `signal.reason` when `signal` is aborted before a worker has begun. The cost of a task that was started twice is
   * the sum of both attempts.
   */
  run<Result>(request: Request<Result>, work?: WorkOptions): Promise<Result>;
  /** Starts a worker before the first task, without keeping this process alive. Rejects when none starts. */
  start(): Promise<void>;
  /** Kills the workers, rejects every task with `overloaded`, and resolves when the processes have exited. */
  close(): Promise<void>;
}

interface Job {
  request: Request<unknown>;
  /** Whether the task must run alone, so that it has all memory to itself. */
  isAlone: boolean;
  /** CPU milliseconds that the task has taken so far. */
  cpuMs: number;
  onCost(cpuMs: number): void;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Removes the listener from its signal. */
  release(): void;
}

/** The assumed duration of a task until one has been measured. */
const FIRST_GUESS_MS = 250;
const MAX_RETRY_AFTER_MS = 60_000;

/** The reason of a kill after which the pool queues the task again. */
const CROWDED = new ServiceError("overloaded", "This render was stopped to free memory for another.");

/** Starts each worker when a task first needs it, or one by `start`. A worker that died is replaced when the next task needs one. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  return new ChildWorkerPool(options);
}

class ChildWorkerPool implements WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #memory: MemoryWatch;
  readonly #queue: Job[] = [];
  /** Living workers: starting, idle or working. */
  readonly #members = new Set<ChildWorker>();
  readonly #idle: ChildWorker[] = [];
  readonly #tasksDone = new WeakMap<ChildWorker, number>();
  /** Workers whose process has not exited yet, killed ones included. */
  readonly #processes = new Set<ChildWorker>();
  readonly #starting = new Set<ChildWorker>();
  /** Number of calls that start a worker. */
  #starts = 0;
  #running = 0;
  #isClosed = false;
  #averageMs = FIRST_GUESS_MS;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#memory = createMemoryWatch(options, () =>
      this.#idle.reduce((bytes, worker) => bytes + worker.restingBytes(), 0),
    );
  }

  run<Result>(
    request: Request<Result>,
    { signal, onCost = () => undefined }: WorkOptions = {},
  ): Promise<Result> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { workers, maxQueue } = this.#options;
    const busy = this.#members.size - this.#idle.length - this.#starts;
    if (this.#queue.length >= maxQueue + workers - busy) return Promise.reject(this.#overloaded());
    return new Promise<Result>((resolve, reject) => {
      const abandon = (): void => {
        this.#queue.splice(this.#queue.indexOf(job), 1);
        reject(signal?.reason);
      };
      const job: Job = {
        request,
        isAlone: false,
        cpuMs: 0,
        onCost,
        // What `request.read` returned.
        resolve: (result) => resolve(result as Result),
        reject,
        release: () => signal?.removeEventListener("abort", abandon),
      };
      signal?.addEventListener("abort", abandon, { once: true });
      this.#queue.push(job);
      for (const worker of this.#starting) worker.keepHostAlive(true);
      this.#dispatch();
    });
  }

  async start(): Promise<void> {
    if (this.#isClosed || this.#members.size > 0) return;
    const failure = await this.#startWorker();
    if (failure !== null) throw failure.error;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#queue.splice(0)) {
      job.release();
      job.reject(closedError());
    }
    const leaving = [...this.#processes];
    for (const worker of leaving) worker.kill(closedError());
    await Promise.all(leaving.map((worker) => worker.gone));
  }

  /** Hands queued jobs to idle workers, and starts workers for the remaining jobs. */
  #dispatch(): void {
    while (this.#queue.length > 0) {
      // It waits for the running tasks, and no other task begins before it.
      if (this.#queue[0]?.isAlone && this.#running > 0) return;
      const worker = this.#idle.pop();
      if (worker === undefined) break;
      if (!worker.isAlive()) {
        // Killed while it was idle. Its process may take a moment to exit, and must not keep the place of the next.
        this.#forget(worker);
        continue;
      }
      const job = this.#queue.shift();
      if (job !== undefined) void this.#perform(worker, job);
    }
    // The first start finds the level of the sandbox.
    const maxStarting = this.#options.levels.result() === null ? 1 : this.#queue.length;
    while (
      this.#starts < Math.min(maxStarting, this.#queue.length) &&
      this.#members.size < this.#options.workers
    ) {
      void this.#startWorker();
    }
  }

  async #startWorker(): Promise<{ error: unknown } | null> {
    let failure: { error: unknown } | null = null;
    this.#starts++;
    try {
      this.#idle.push(await this.#startAtBestLevel());
    } catch (error) {
      failure = { error };
      // One job per failed start: if starts keep failing, each queued job gets one attempt and its error.
      const job = this.#queue.shift();
      job?.release();
      job?.reject(error);
    } finally {
      this.#starts--;
    }
    this.#dispatch();
    return failure;
  }

  /** Tries the levels of the sandbox until a worker starts. Rejects with the failure of the last level. */
  async #startAtBestLevel(): Promise<ChildWorker> {
    const { levels } = this.#options;
    const candidates = levels.candidates();
    const failures: { level: SandboxLevel; reason: string }[] = [];
    for (const level of candidates) {
      const worker = startChildWorker(this.#options, level);
      if (this.#queue.length === 0) worker.keepHostAlive(false);
      this.#members.add(worker);
      this.#processes.add(worker);
      this.#starting.add(worker);
      void worker.gone.then(() => {
        this.#forget(worker);
        this.#processes.delete(worker);
      });
      try {
        await worker.ready;
        levels.found(level, failures);
        return worker;
      } catch (error) {
        this.#forget(worker);
        const reason = worker.startFailure;
        // Other failures say nothing about the level: the pool was closed, or the system is short of memory.
        if (reason === null || this.#isClosed) throw error;
        failures.push({ level, reason });
        if (level !== candidates.at(-1)) continue;
        // A known level has worked before, and without a sandbox the entry itself fails.
        throw levels.result() === null && level !== "none" ? noSandbox(failures) : error;
      } finally {
        this.#starting.delete(worker);
      }
    }
    throw noSandbox(failures);
  }

  async #perform(worker: ChildWorker, job: Job): Promise<void> {
    job.release();
    const begun = performance.now();
    this.#running++;
    const unwatch = this.#memory.add({
      residentBytes: () => worker.residentBytes(),
      onExcess: () => worker.kill(needsMemory(this.#options.maxMemoryBytes)),
      onCrowding: () => worker.kill(CROWDED),
    });
    try {
      const result = await worker.run(job.request, (cpuMs) => {
        job.cpuMs += cpuMs;
      });
      job.onCost(job.cpuMs);
      job.resolve(result);
    } catch (error) {
      if (error === CROWDED && !this.#isClosed) this.#queue.unshift({ ...job, isAlone: true });
      else {
        job.onCost(job.cpuMs);
        job.reject(error);
      }
    } finally {
      this.#running--;
      unwatch();
    }
    this.#averageMs += (performance.now() - begun - this.#averageMs) / 8;
    this.#keepOrReplace(worker);
    this.#dispatch();
  }

  #keepOrReplace(worker: ChildWorker): void {
    const { maxTasksPerWorker, maxRestingBytes } = this.#options;
    const done = (this.#tasksDone.get(worker) ?? 0) + 1;
    this.#tasksDone.set(worker, done);
    // The worker is idle, so no task rejects with this reason.
    if (done >= maxTasksPerWorker || worker.restingBytes() > maxRestingBytes) worker.kill(closedError());
    if (worker.isAlive()) this.#idle.push(worker);
    else this.#forget(worker);
  }

  #forget(worker: ChildWorker): void {
    this.#members.delete(worker);
    const place = this.#idle.indexOf(worker);
    if (place >= 0) this.#idle.splice(place, 1);
  }

  #overloaded(): ServiceError {
    const { workers } = this.#options;
    const expectedMs = (this.#averageMs * (this.#queue.length + workers)) / workers;
    return new ServiceError("overloaded", "Too many images are waiting to be rendered.", {
      retryAfterMs: Math.ceil(Math.min(MAX_RETRY_AFTER_MS, expectedMs)),
    });
  }
}

function closedError(): ServiceError {
  return new ServiceError("overloaded", "The renderer is closed.", { retryAfterMs: 1000 });
}
