import type { ChildProcess } from "node:child_process";
import { ServiceError } from "@outrigger/core";
import type { WorkerMessage } from "../shared/wire.ts";
import { deferred } from "./deferred.ts";
import { forkWorker } from "./fork-worker.ts";
import { cpuMsOf, residentBytes } from "./process-usage.ts";

/** What one worker runs, and within what. */
export interface ChildWorkerOptions {
  /** The module that it runs; it speaks {@link WorkerMessage}. */
  entry: URL;
  /** Milliseconds for one task. */
  timeoutMs: number;
  /** Bytes of resident memory during a task. */
  maxMemoryBytes: number;
}

/** A process that does one task at a time and is killed if that takes too much. */
export interface ChildWorker<Task, Result> {
  /**
   * Resolves when it can take a task. Rejects with `host_misuse` when it cannot load what it needs, with `overloaded`
   * when the system does not let it start.
   */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  /** Whether it can take another task. */
  isAlive(): boolean;
  /** Bytes of memory that it held after its last task. */
  restingBytes(): number;
  /** Bytes of memory that it holds now; `null` where the system does not say. */
  residentBytes(): number | null;
  /**
   * Does one task. Rejects with what the task rejects with; with `too_costly` when the task is over a limit; with
   * `unsupported_media` when it crashes the process; with `overloaded` when the process is ended from outside, or did not
   * get the processor for most of its time.
   * @param onCost called once, before the promise settles: CPU milliseconds of the task. Of a process that is gone the system
   * tells none, which counts as the whole deadline.
   */
  run(task: Task, onCost: (cpuMs: number) => void): Promise<Result>;
  /** Ends the process at once. What it has begun, starting included, rejects with `reason`. */
  kill(reason: ServiceError): void;
}

/** Starting takes 0.1 s. This long means that the machine is not well. */
const MAX_START_MS = 30_000;
/** Signals for faults of the process itself. Others come from outside: an operator, a system short of memory. */
const faultSignals = new Set<NodeJS.Signals>([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
  "SIGSYS",
  "SIGTRAP",
]);

/** CPU time of a task at its deadline, as a share of the deadline, from which on the task is the reason and not a busy machine. */
const BUSY_SHARE = 0.8;

/** Starts a worker. Idle it does not keep this process alive; starting or at work it does. */
export function startChildWorker<Task extends object, Result>(
  options: ChildWorkerOptions,
): ChildWorker<Task, Result> {
  const ready = deferred<void>();
  const gone = deferred<void>();
  // Whoever waits for it handles it; nobody does when it is killed while starting.
  ready.promise.catch(() => {});
  let alive = true;
  let started = false;
  let restingBytes = 0;
  /** Of the result to come. */
  const pieces: Buffer[] = [];
  let finish: ((outcome: Outcome<Result>, cpuMs: number) => void) | undefined;
  /** CPU time of the process when its task began. */
  let cpuMsAtStart: number | null = null;

  /** CPU milliseconds of the task, by the system's account; `null` where it has none. */
  const measuredCpuMs = (): number | null => {
    const now = child?.pid === undefined || cpuMsAtStart === null ? null : cpuMsOf(child.pid);
    return now === null || cpuMsAtStart === null ? null : now - cpuMsAtStart;
  };

  const end = (error: ServiceError, cpuMs: number | null): void => {
    alive = false;
    clearTimeout(startTimer);
    ready.reject(error);
    finish?.({ error }, cpuMs ?? options.timeoutMs);
  };
  const kill = (reason: ServiceError): void => {
    end(reason, measuredCpuMs());
    // Until it is gone, so that whoever waits for that is not left hanging by a process that ends for want of work.
    child?.ref();
    child?.kill("SIGKILL");
  };
  const startTimer = setTimeout(() => kill(notStarted()), MAX_START_MS).unref();

  const onMessage = (message: WorkerMessage<Result>): void => {
    if (message.kind === "ready") {
      clearTimeout(startTimer);
      started = true;
      hold(child, false);
      ready.resolve();
    } else if (message.kind === "unusable") {
      kill(new ServiceError("host_misuse", `The renderer cannot load what it needs: ${message.reason}`));
    } else if (message.kind === "piece") {
      pieces.push(message.bytes);
    } else {
      restingBytes = message.residentBytes;
      const received = pieces.splice(0);
      finish?.(
        message.kind === "done"
          ? { result: assemble(message.result, received) }
          : { error: revive(message, options.maxMemoryBytes) },
        message.cpuMs,
      );
    }
  };

  let child: ChildProcess | undefined;
  try {
    child = forkWorker(options.entry, options.maxMemoryBytes);
    child.on("message", (message) => {
      // Nothing but our own entry speaks on this channel.
      onMessage(message as WorkerMessage<Result>);
    });
    child.on("exit", (code, signal) => {
      if (!started) end(notStarted(new Error(`It ended with ${signal ?? code}.`)), null);
      else end(isFault(code, signal) ? crashed() : stopped(), null);
      gone.resolve();
    });
    child.on("error", (cause) => {
      end(notStarted(cause), null);
      // Without a process there is no exit to wait for; of a living one this reports a signal that failed.
      if (child?.pid === undefined) gone.resolve();
    });
  } catch (cause) {
    end(notStarted(cause), null);
    gone.resolve();
  }

  const run = (task: Task, onCost: (cpuMs: number) => void): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (!alive || child === undefined) {
        reject(stopped());
        return;
      }
      cpuMsAtStart = child.pid === undefined ? null : cpuMsOf(child.pid);
      child.send(task, (error) => {
        if (error !== null) kill(stopped(error));
      });
      const deadline = setTimeout(() => {
        // Not yet: if this process itself stood still, the answer may be waiting in the channel.
        setImmediate(() => finish === done && kill(overDeadline(measuredCpuMs(), options.timeoutMs)));
      }, options.timeoutMs);
      const done: typeof finish = (outcome, cpuMs) => {
        finish = undefined;
        clearTimeout(deadline);
        hold(child, false);
        onCost(cpuMs);
        if ("result" in outcome) resolve(outcome.result);
        else reject(outcome.error);
      };
      finish = done;
      hold(child, true);
    });

  return {
    ready: ready.promise,
    gone: gone.promise,
    isAlive: () => alive,
    restingBytes: () => restingBytes,
    residentBytes: () => (child?.pid === undefined ? null : residentBytes(child.pid)),
    run,
    kill,
  };
}

type Outcome<Result> = { result: Result } | { error: Error };

/** Whether the child keeps this process alive. */
function hold(child: ChildProcess | undefined, on: boolean): void {
  if (on) {
    child?.ref();
    child?.channel?.ref();
  } else {
    child?.unref();
    child?.channel?.unref();
  }
}

function isFault(code: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === null ? code !== 0 : faultSignals.has(signal);
}

function assemble<Result>(result: Result, pieces: Buffer[]): Result {
  return pieces.length === 0 ? result : { ...result, bytes: Buffer.concat(pieces) };
}

function revive(message: Extract<WorkerMessage<never>, { kind: "failed" }>, maxMemoryBytes: number): Error {
  const options = message.detail === "" ? {} : { cause: message.detail };
  if (message.code === "memory") return needsMemory(maxMemoryBytes);
  if (message.code === "bug") return new Error(`The renderer failed: ${message.message}`, options);
  return new ServiceError(message.code, message.message, options);
}

/**
 * The refusal of a picture that was not done in time.
 * @param cpuMs what it used; `null`: not known.
 */
export function overDeadline(cpuMs: number | null, timeoutMs: number): ServiceError {
  if (cpuMs === null || cpuMs >= timeoutMs * BUSY_SHARE) {
    return tooCostly(`takes longer than ${timeoutMs / 1000} s`);
  }
  return new ServiceError("overloaded", "The machine is too busy to render this image in time.", {
    retryAfterMs: timeoutMs,
  });
}

/** The refusal of a picture that needs more than `maxMemoryBytes`. */
export function needsMemory(maxMemoryBytes: number): ServiceError {
  return tooCostly(`needs more than ${Math.round(maxMemoryBytes / 1024 ** 2)} MiB of memory`);
}

function tooCostly(predicate: string): ServiceError {
  return new ServiceError("too_costly", `This image ${predicate} to render.`);
}

function crashed(): ServiceError {
  return new ServiceError("unsupported_media", "This image crashes its decoder.");
}

function stopped(cause?: unknown): ServiceError {
  return new ServiceError("overloaded", "The render was interrupted.", { cause, retryAfterMs: 1000 });
}

function notStarted(cause?: unknown): ServiceError {
  return new ServiceError("overloaded", "No render process can be started just now.", {
    cause,
    retryAfterMs: 5000,
  });
}
