import type { ChildProcess } from "node:child_process";
import { ServiceError } from "@outrigger/core";
import type { WorkerMessage } from "../shared/wire.ts";
import { crashed, isFault, notStarted, overDeadline, reportedError, stopped } from "./failures.ts";
import { forkWorker } from "./fork-worker.ts";
import { cpuMsOf, residentBytesOf } from "./process-usage.ts";

/** The module and the limits of one worker. */
export interface ChildWorkerOptions {
  /** The module that the process runs. It sends {@link WorkerMessage}s. */
  entry: URL;
  /** Milliseconds that one task may take. */
  timeoutMs: number;
  /** Bytes of resident memory that the process may reach during a task. */
  maxMemoryBytes: number;
}

/** A process that runs one task at a time. It is killed when a task exceeds a limit. */
export interface ChildWorker<Task, Result> {
  /**
   * Resolves when the process can take a task. Rejects with `host_misuse` when it cannot load its libraries, and with
   * `overloaded` when the system refuses to start it.
   */
  readonly ready: Promise<void>;
  /** Resolves when the process has exited. */
  readonly gone: Promise<void>;
  /** Whether the process can take another task. */
  isAlive(): boolean;
  /** Bytes of memory that the process held after its last task. */
  restingBytes(): number;
  /** Bytes of memory that the process holds now; `null` where the system does not report it. */
  residentBytes(): number | null;
  /**
   * Runs one task. Rejects with the error of the task, with `too_costly` when the task exceeds a limit, with
   * `unsupported_media` when it crashes the process, and with `overloaded` when the process was killed from outside or
   * did not get the processor for most of its time.
   * @param onCost called once, before the promise settles, with the CPU milliseconds of the task. If the process has
   * exited, they are unknown, and the whole deadline counts.
   */
  run(task: Task, onCost: (cpuMs: number) => void): Promise<Result>;
  /** Kills the process. A pending start or task rejects with `reason`. */
  kill(reason: ServiceError): void;
}

/** A start usually takes 0.1 s. After this time it has failed. */
const MAX_START_MS = 30_000;

/** Starts a worker. The worker keeps this process alive while it starts or works, not while it is idle. */
export function startChildWorker<Task extends object, Result>(
  options: ChildWorkerOptions,
): ChildWorker<Task, Result> {
  return new ForkedWorker<Task, Result>(options);
}

type Outcome<Result> = { result: Result } | { error: Error };
type Settle<Result> = (outcome: Outcome<Result>, cpuMs: number) => void;

class ForkedWorker<Task extends object, Result> implements ChildWorker<Task, Result> {
  readonly #options: ChildWorkerOptions;
  readonly #ready = deferred();
  readonly #gone = deferred();
  readonly #startTimer: NodeJS.Timeout;
  readonly #child: ChildProcess | undefined;
  #isAlive = true;
  #hasStarted = false;
  #restingBytes = 0;
  /** Bytes of the result, received before the result itself. */
  readonly #pieces: Buffer[] = [];
  /** Settles the current task. */
  #settle: Settle<Result> | undefined;
  /** CPU time of the process when its task began. */
  #cpuMsAtStart: number | null = null;

  readonly ready = this.#ready.promise;
  readonly gone = this.#gone.promise;

  constructor(options: ChildWorkerOptions) {
    this.#options = options;
    // `ready` may have no listener when the worker is killed during its start.
    this.ready.catch(() => {});
    this.#startTimer = setTimeout(() => this.kill(notStarted()), MAX_START_MS).unref();
    try {
      this.#child = forkWorker(options.entry, options.maxMemoryBytes);
      this.#listenTo(this.#child);
    } catch (cause) {
      this.#end(notStarted(cause), null);
      this.#gone.resolve();
    }
  }

  isAlive(): boolean {
    return this.#isAlive;
  }

  restingBytes(): number {
    return this.#restingBytes;
  }

  residentBytes(): number | null {
    return this.#child?.pid === undefined ? null : residentBytesOf(this.#child.pid);
  }

  run(task: Task, onCost: (cpuMs: number) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      const child = this.#child;
      if (!this.#isAlive || child === undefined) {
        reject(stopped());
        return;
      }
      const { timeoutMs } = this.#options;
      this.#cpuMsAtStart = child.pid === undefined ? null : cpuMsOf(child.pid);
      child.send(task, (error) => {
        if (error !== null) this.kill(stopped(error));
      });
      const deadline = setTimeout(() => {
        // Deferred: if this process itself was blocked, the answer may already wait in the channel.
        setImmediate(() => {
          if (this.#settle === settle) this.kill(overDeadline(this.#measuredCpuMs(), timeoutMs));
        });
      }, timeoutMs);
      const settle: Settle<Result> = (outcome, cpuMs) => {
        this.#settle = undefined;
        clearTimeout(deadline);
        this.#keepHostAlive(false);
        onCost(cpuMs);
        if ("result" in outcome) resolve(outcome.result);
        else reject(outcome.error);
      };
      this.#settle = settle;
      this.#keepHostAlive(true);
    });
  }

  kill(reason: ServiceError): void {
    this.#end(reason, this.#measuredCpuMs());
    // Otherwise this process could run out of work and exit before `gone` resolves.
    this.#child?.ref();
    this.#child?.kill("SIGKILL");
  }

  #listenTo(child: ChildProcess): void {
    child.on("message", (message) => {
      // Only our own entry module sends on this channel.
      this.#receive(message as WorkerMessage<Result>);
    });
    child.on("exit", (code, signal) => {
      if (!this.#hasStarted) this.#end(notStarted(new Error(`It ended with ${signal ?? code}.`)), null);
      else this.#end(isFault(code, signal) ? crashed() : stopped(), null);
      this.#gone.resolve();
    });
    child.on("error", (cause) => {
      this.#end(notStarted(cause), null);
      // Without a process no "exit" event follows. For a running process, this event reports a signal that failed.
      if (child.pid === undefined) this.#gone.resolve();
    });
  }

  #receive(message: WorkerMessage<Result>): void {
    if (message.kind === "ready") {
      clearTimeout(this.#startTimer);
      this.#hasStarted = true;
      this.#keepHostAlive(false);
      this.#ready.resolve();
    } else if (message.kind === "unusable") {
      this.kill(new ServiceError("host_misuse", `The renderer cannot load its libraries: ${message.reason}`));
    } else if (message.kind === "piece") {
      this.#pieces.push(message.bytes);
    } else {
      this.#restingBytes = message.residentBytes;
      const pieces = this.#pieces.splice(0);
      const outcome: Outcome<Result> =
        message.kind === "done"
          ? { result: assemble(message.result, pieces) }
          : { error: reportedError(message, this.#options.maxMemoryBytes) };
      this.#settle?.(outcome, message.cpuMs);
    }
  }

  #end(error: ServiceError, cpuMs: number | null): void {
    this.#isAlive = false;
    clearTimeout(this.#startTimer);
    this.#ready.reject(error);
    this.#settle?.({ error }, cpuMs ?? this.#options.timeoutMs);
  }

  /** CPU milliseconds of the task as the system counts them; `null` where it does not. */
  #measuredCpuMs(): number | null {
    if (this.#child?.pid === undefined || this.#cpuMsAtStart === null) return null;
    const now = cpuMsOf(this.#child.pid);
    return now === null ? null : now - this.#cpuMsAtStart;
  }

  #keepHostAlive(on: boolean): void {
    const method = on ? "ref" : "unref";
    this.#child?.[method]();
    this.#child?.channel?.[method]();
  }
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function deferred() {
  let settle: { resolve(): void; reject(error: Error): void } | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: () => settle?.resolve(),
    reject: (error: Error) => settle?.reject(error),
  };
}

function assemble<Result>(result: Result, pieces: Buffer[]): Result {
  return pieces.length === 0 ? result : { ...result, bytes: Buffer.concat(pieces) };
}
