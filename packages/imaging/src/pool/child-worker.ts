import type { ChildProcess } from "node:child_process";
import type { SandboxLevel } from "@outrigger/core/images";
import { isError, isServiceError, type ServiceError, systemCode } from "@outrigger/core/values";
import type { Frame } from "../shared/frames.ts";
import {
  crashed,
  isFault,
  notStarted,
  notWorking,
  overDeadline,
  reportedError,
  stopped,
} from "./failures.ts";
import { ProcessGroup } from "./process-group.ts";
import { lowerPriority, type ProcessOptions, startProcess } from "./start-process.ts";
import {
  keepHostAlive,
  type OpenSource,
  openBytes,
  openFile,
  type Request,
  readMessage,
  readPipe,
  sendTask,
} from "./worker-pipe.ts";

/** The module of one worker, which sends {@link WorkerMessage}s, and its limits. */
export interface ChildWorkerOptions extends ProcessOptions {
  /** Milliseconds that one task may take. */
  timeoutMs: number;
}

/** A start usually takes 0.3 s. After this time it has failed. */
const MAX_START_MS = 30_000;
/** Characters of a failed start's error output that are kept. */
const MAX_ERROR_OUTPUT = 2000;

type Outcome = { reply: unknown; bytes: Buffer } | { error: Error };
type Settle = (outcome: Outcome, cpuMs: number) => void;

/**
 * A process that runs one task at a time. It is killed when a task exceeds a limit, or when it goes on after its answer: with CPU
 * time, or with too much memory. It keeps this process alive while it starts or works, not
 * while it is idle.
 */
export class ChildWorker {
  readonly #options: ChildWorkerOptions;
  readonly #ready = deferred();
  readonly #gone = deferred();
  readonly #startTimer: NodeJS.Timeout;
  readonly #child: ChildProcess | undefined;
  readonly #group: ProcessGroup | undefined;
  readonly #level: SandboxLevel;
  #hasStarted = false;
  #errorOutput = "";
  /** Settles the current task. */
  #settle: Settle | undefined;
  /** Whether the bytes of the current task are still being sent. */
  #isSending = false;
  /** CPU time of the process when its task began. */
  #cpuMsAtStart: number | null = null;

  /**
   * Resolves when the process can take a task. Rejects with `not_implemented` when it cannot load its libraries, and
   * with `overloaded` when the system refuses to start it.
   */
  readonly ready = this.#ready.promise;
  /** Resolves when the process has exited. */
  readonly gone = this.#gone.promise;
  /** Why the process ended by itself before it was ready; `null` if it did not. */
  startFailure: string | null = null;
  /** Whether the process can take another task. */
  isAlive = true;
  /** Bytes of memory that the process held after its last task. */
  restingBytes = 0;

  constructor(options: ChildWorkerOptions, level: SandboxLevel) {
    this.#options = options;
    this.#level = level;
    // `ready` may have no listener when the worker is killed during its start.
    this.ready.catch(() => {});
    this.#startTimer = setTimeout(() => this.kill(notStarted()), MAX_START_MS).unref();
    try {
      this.#child = startProcess(options, level);
      this.#group = new ProcessGroup(this.#child);
      this.#listenTo(this.#child);
    } catch (cause) {
      this.startFailure = isError(cause) ? cause.message : String(cause); // The level does not apply here.
      this.#end(notStarted(cause), null);
      this.#gone.resolve();
    }
  }

  /** Bytes of memory that the process holds now; `null` where the system does not report it. */
  residentBytes(): number | null {
    return this.#group?.residentBytes() ?? null;
  }

  /**
   * Runs one task. Rejects with the error of the task, with `store_unavailable` when its source cannot be read, with
   * `too_costly` when the task exceeds a limit, with `unsupported_media` when it crashes the process, and with
   * `overloaded` when the process was killed from outside or did not get the processor for most of its time.
   * @param onCost called once, before the promise settles, with the CPU milliseconds of the task. If the process has
   * exited, they are unknown, and the whole deadline counts.
   */
  run<Result>(request: Request<Result>, onCost: (cpuMs: number) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (!this.isAlive) {
        reject(stopped());
        return;
      }
      const { timeoutMs } = this.#options;
      this.#group?.rouse();
      this.#cpuMsAtStart = this.#group?.cpuMs() ?? null;
      const deadline = setTimeout(() => {
        // Deferred: if this process itself was blocked, the reply may already wait in the pipe.
        setImmediate(() => {
          if (this.#settle === settle) this.kill(overDeadline(this.#measuredCpuMs(), timeoutMs));
        });
      }, timeoutMs);
      let sourceBytes = 0;
      const settle: Settle = (outcome, cpuMs) => {
        this.#settle = undefined;
        clearTimeout(deadline);
        keepHostAlive(this.#child, false);
        onCost(cpuMs);
        if ("error" in outcome) reject(outcome.error);
        else {
          try {
            resolve(request.read(outcome.reply, outcome.bytes, sourceBytes));
          } catch (cause) {
            this.kill(stopped());
            reject(crashed(cause));
          }
        }
        this.#rest();
      };
      this.#settle = settle;
      keepHostAlive(this.#child, true);
      void this.#send(request, settle, (length) => {
        sourceBytes = length;
      });
    });
  }

  /** Decides whether the start keeps this process alive. It does unless told otherwise. */
  keepHostAlive(on: boolean): void {
    if (!this.#hasStarted) keepHostAlive(this.#child, on);
  }

  /** Kills the process. A pending start or task rejects with `reason`. */
  kill(reason: ServiceError): void {
    this.#end(reason, this.#measuredCpuMs());
    // Otherwise this process could run out of work and exit before `gone` resolves.
    keepHostAlive(this.#child, true);
    this.#group?.kill();
  }

  /** Sends a task and its bytes. A worker that gets less than announced is killed. */
  async #send(
    { task, source }: Request<unknown>,
    settle: Settle,
    onLength: (bytes: number) => void,
  ): Promise<void> {
    this.#isSending = true;
    let opened: OpenSource;
    try {
      opened = "bytes" in source ? openBytes(source.bytes) : await openFile(source);
    } catch (error) {
      this.#isSending = false;
      // The worker got nothing and stays usable. `openFile` throws only this class.
      if (this.#settle === settle) settle({ error: error as ServiceError }, 0);
      return;
    }
    try {
      onLength(opened.length);
      if (this.#settle === settle && this.#child !== undefined) await sendTask(this.#child, task, opened);
    } catch (error) {
      // Any other error is of the pipe: the process ends, or exceeds its deadline.
      if (isServiceError(error)) this.kill(error);
    } finally {
      this.#isSending = false;
      await opened.close();
    }
  }

  #listenTo(child: ChildProcess): void {
    readPipe(child, {
      // A process cannot return more than it can hold, and nothing between tasks.
      maxBytes: () => (this.#settle === undefined ? 0 : this.#options.maxMemoryBytes),
      onFrame: this.#receive,
      onInvalid: (cause) => this.kill(crashed(cause)),
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (!this.#hasStarted && this.#errorOutput.length < MAX_ERROR_OUTPUT) this.#errorOutput += chunk;
    });
    // Not "exit": every process of a sandbox holds the pipe.
    child.on("close", (code, signal) => {
      const isByItself = this.isAlive && isFault(code, signal);
      this.#group?.ended();
      if (this.#hasStarted) this.#end(isByItself ? crashed() : stopped(), null);
      else {
        const reason = this.#errorOutput.trim() || `It ended with ${signal ?? code}.`;
        if (isByItself) this.startFailure = reason;
        this.#end(notStarted(new Error(reason)), null);
      }
      this.#gone.resolve();
    });
    child.on("error", (cause) => {
      if (systemCode(cause) === "ENOENT") this.startFailure = cause.message;
      this.#end(notStarted(cause), null);
      // Without a process no "close" event follows. For a running process, this event reports a signal that failed.
      if (child.pid === undefined) this.#gone.resolve();
    });
  }

  readonly #receive = ({ message: given, bytes }: Frame): void => {
    if (!this.isAlive) return;
    const message = readMessage(given);
    if (message.kind === "ready") this.#begin();
    else if (message.kind === "unusable") {
      this.startFailure = message.reason;
      this.kill(notWorking(`The renderer cannot load its libraries: ${message.reason}`));
    } else if (this.#isSending) throw new Error("A render process replied before it had read its task");
    else {
      this.restingBytes = this.residentBytes() ?? message.residentBytes ?? 0;
      const outcome: Outcome =
        message.kind === "done"
          ? { reply: message.result, bytes }
          : { error: reportedError(message, this.#options.maxMemoryBytes) };
      this.#settle?.(outcome, message.cpuMs);
    }
  };

  #rest(): void {
    if (this.isAlive) this.#group?.rest(this.#options.maxMemoryBytes, () => this.kill(stopped()));
  }

  #begin(): void {
    this.#group?.findDecoder(this.#level === "none");
    const decoder = this.#group?.decoder ?? null;
    if (decoder === null) {
      this.startFailure = "/proc does not show its process";
      this.kill(notStarted());
      return;
    }
    clearTimeout(this.#startTimer);
    lowerPriority(decoder);
    this.#hasStarted = true;
    this.#rest();
    keepHostAlive(this.#child, false);
    this.#ready.resolve();
  }

  #end(error: ServiceError, cpuMs: number | null): void {
    this.isAlive = false;
    this.#group?.rouse();
    clearTimeout(this.#startTimer);
    this.#ready.reject(error);
    this.#settle?.({ error }, cpuMs ?? this.#options.timeoutMs);
  }

  /** CPU milliseconds of the task as the system counts them; `null` where it does not. */
  #measuredCpuMs(): number | null {
    const now = this.#group?.cpuMs() ?? null;
    return now === null || this.#cpuMsAtStart === null ? null : now - this.#cpuMsAtStart;
  }
}

/** `Promise.withResolvers`, which Node 20 lacks. */
export function deferred() {
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
