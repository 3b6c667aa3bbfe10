import type { SandboxLevel, WorkOptions } from "@outrigger/core/images";
import { ServiceError } from "@outrigger/core/values";
import { ChildWorker, type ChildWorkerOptions } from "./child-worker.ts";
import { needsMemory } from "./failures.ts";
import { type LevelSearch, noSandbox } from "./sandbox/levels.ts";
import type { Request } from "./worker-pipe.ts";

/** Options of a {@link WorkerPool}. */
export interface WorkerPoolOptions extends ChildWorkerOptions {
  /** The level of the worker processes. */
  levels: LevelSearch;
  /** Worker processes at most. */
  workers: number;
  /** Tasks after which a worker is replaced. */
  maxTasksPerWorker: number;
  /** Bytes of resident memory after a task above which a worker is replaced. */
  maxRestingBytes: number;
  /**
   * Bytes of resident memory of all workers together. Above it, the task that began last is stopped, and rejects with `overloaded`.
   */
  maxTotalMemoryBytes: number;
}

/** A call that waits until a worker is free. */
interface Waiter {
  /** Lets it try again. */
  wake(): void;
  fail(error: unknown): void;
}

/** Between two measurements a decoder allocates some tens of megabytes. */
const MEMORY_EVERY_MS = 50;

/** A client may send the request again after this time, when another render has freed its memory. */
const CROWDED_MS = 5000;

/**
 * Runs tasks in worker processes. It starts each worker when a task first needs it, or one by `start`, and replaces a worker that died
 * when the next task needs one. The callers see to it that few tasks wait.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  /** In order of arrival. */
  readonly #waiting = new Set<Waiter>();
  /** Living workers: starting, idle or working. */
  readonly #members = new Set<ChildWorker>();
  readonly #idle: ChildWorker[] = [];
  readonly #tasksDone = new WeakMap<ChildWorker, number>();
  /** Workers whose process has not exited yet, killed ones included. */
  readonly #processes = new Set<ChildWorker>();
  readonly #starting = new Set<ChildWorker>();
  /** In the order in which they began their tasks. */
  readonly #working = new Set<ChildWorker>();
  /** Number of calls that start a worker. */
  #starts = 0;
  #memoryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Runs a task when a worker is free. Rejects as {@link ChildWorker.run} does, with `overloaded` when the pool is closed or short of
   * memory, and with `signal.reason` when `signal` is aborted before a worker has begun.
   */
  async run<Result>(
    request: Request<Result>,
    { signal, onCost = () => undefined }: WorkOptions = {},
  ): Promise<Result> {
    const worker = await this.#takeWorker(signal);
    try {
      return await worker.run(request, onCost);
    } finally {
      this.#working.delete(worker);
      if (this.#working.size === 0) {
        clearInterval(this.#memoryTimer);
        this.#memoryTimer = undefined;
      }
      this.#keepOrReplace(worker);
      this.#wakeAll();
    }
  }

  /** Starts a worker before the first task, without keeping this process alive. Rejects when none starts. */
  async start(): Promise<void> {
    if (!this.#isClosed && this.#members.size === 0) await this.#startWorker();
  }

  /** Kills the workers, rejects every task with `overloaded`, and resolves when the processes have exited. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeAll();
    const leaving = [...this.#processes];
    for (const worker of leaving) worker.kill(closedError());
    await Promise.all(leaving.map((worker) => worker.gone));
  }

  /** Waits for an idle worker, and starts one if there are too few. */
  async #takeWorker(signal?: AbortSignal): Promise<ChildWorker> {
    for (;;) {
      if (this.#isClosed) throw closedError();
      signal?.throwIfAborted();
      const worker = this.#idleWorker();
      if (worker !== undefined) {
        this.#working.add(worker);
        // A working child process already keeps this process alive.
        this.#memoryTimer ??= setInterval(() => this.#checkMemory(), MEMORY_EVERY_MS).unref();
        return worker;
      }
      // The first start finds the level of the sandbox.
      const maxStarting = this.#options.levels.result() === null ? 1 : this.#waiting.size + 1;
      const hasRoom = this.#members.size < this.#options.workers;
      // Its failure rejects a task that waits.
      if (hasRoom && this.#starts < maxStarting) this.#startWorker().catch(() => undefined);
      for (const each of this.#starting) each.keepHostAlive(true);
      await this.#change(signal);
    }
  }

  #idleWorker(): ChildWorker | undefined {
    for (let worker = this.#idle.pop(); worker !== undefined; worker = this.#idle.pop()) {
      if (worker.isAlive) return worker;
      // Killed while it was idle. Its process may take a moment to exit, and must not keep the place of the next.
      this.#forget(worker);
    }
    return undefined;
  }

  /** Waits until a worker may be free. Rejects with the error of a start. */
  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        wake: () => {
          this.#waiting.delete(waiter);
          signal?.removeEventListener("abort", waiter.wake);
          resolve();
        },
        fail(error) {
          reject(error);
          waiter.wake();
        },
      };
      signal?.addEventListener("abort", waiter.wake);
      this.#waiting.add(waiter);
    });
  }

  #wakeAll(): void {
    for (const waiter of [...this.#waiting]) waiter.wake();
  }

  async #startWorker(): Promise<void> {
    this.#starts++;
    try {
      this.#idle.push(await this.#startAtBestLevel());
    } catch (error) {
      // One task per failed start: if starts keep failing, each task gets one attempt and its error.
      const [waiter] = this.#waiting;
      waiter?.fail(error);
      throw error;
    } finally {
      this.#starts--;
      this.#wakeAll();
    }
  }

  /** Tries the levels of the sandbox until a worker starts. Rejects with the failure of the last level. */
  async #startAtBestLevel(): Promise<ChildWorker> {
    const { levels } = this.#options;
    const candidates = levels.candidates();
    const failures: { level: SandboxLevel; reason: string }[] = [];
    for (const level of candidates) {
      const worker = new ChildWorker(this.#options, level);
      if (this.#waiting.size === 0) worker.keepHostAlive(false);
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

  /** Kills a worker that takes too much memory, and the newest ones if all together do. A worker alone has all memory to itself. */
  #checkMemory(): void {
    const { maxMemoryBytes, maxTotalMemoryBytes } = this.#options;
    let used = this.#idle.reduce((bytes, worker) => bytes + worker.restingBytes, 0);
    // Iterates over a copy, because a killed worker leaves the set.
    for (const [index, worker] of [...this.#working].entries()) {
      const bytes = worker.residentBytes();
      if (bytes === null) continue;
      used += bytes;
      if (bytes > maxMemoryBytes) worker.kill(needsMemory(maxMemoryBytes));
      else if (index > 0 && used > maxTotalMemoryBytes) worker.kill(crowdedError());
    }
  }

  #keepOrReplace(worker: ChildWorker): void {
    const { maxTasksPerWorker, maxRestingBytes } = this.#options;
    const done = (this.#tasksDone.get(worker) ?? 0) + 1;
    this.#tasksDone.set(worker, done);
    // The worker is idle, so no task rejects with this reason.
    if (done >= maxTasksPerWorker || worker.restingBytes > maxRestingBytes) worker.kill(closedError());
    if (worker.isAlive) this.#idle.push(worker);
    else this.#forget(worker);
  }

  #forget(worker: ChildWorker): void {
    this.#members.delete(worker);
    const place = this.#idle.indexOf(worker);
    if (place >= 0) this.#idle.splice(place, 1);
  }
}

function closedError(): ServiceError {
  return new ServiceError("overloaded", "The renderer is closed.", { retryAfterMs: 1000 });
}

function crowdedError(): ServiceError {
  const message = "This render was stopped to free memory for another.";
  return new ServiceError("overloaded", message, { retryAfterMs: CROWDED_MS });
}
