import { ServiceError } from "@outrigger/core";
import type { WorkerMessage } from "../shared/wire.ts";

/**
 * CPU time of a task at its deadline, as a share of the deadline. From this share on the task caused the delay, not a
 * busy machine.
 */
const BUSY_SHARE = 0.8;

/**
 * Signals that a process gets for its own faults. Other signals come from outside: an operator, or a system short of
 * memory.
 */
const faultSignals = new Set<NodeJS.Signals>([
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSEGV",
  "SIGSYS",
  "SIGTRAP",
]);

/** Whether a process ended by its own fault. */
export function isFault(code: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === null ? code !== 0 : faultSignals.has(signal);
}

/** The error that a worker reported. */
export function reportedError(
  message: Extract<WorkerMessage<never>, { kind: "failed" }>,
  maxMemoryBytes: number,
): Error {
  const options = message.detail === "" ? {} : { cause: message.detail };
  if (message.code === "memory") return needsMemory(maxMemoryBytes);
  if (message.code === "bug") return new Error(`The renderer failed: ${message.message}`, options);
  return new ServiceError(message.code, message.message, options);
}

/**
 * The error for a picture that was not rendered in time.
 * @param cpuMs CPU milliseconds that the task used; `null` when unknown.
 */
export function overDeadline(cpuMs: number | null, timeoutMs: number): ServiceError {
  if (cpuMs === null || cpuMs >= timeoutMs * BUSY_SHARE) {
    return tooCostly(`takes longer than ${timeoutMs / 1000} s`);
  }
  return new ServiceError("overloaded", "The machine is too busy to render this image in time.", {
    retryAfterMs: timeoutMs,
  });
}

/** The error for a picture that needs more than `maxMemoryBytes`. */
export function needsMemory(maxMemoryBytes: number): ServiceError {
  return tooCostly(`needs more than ${Math.round(maxMemoryBytes / 1024 ** 2)} MiB of memory`);
}

function tooCostly(predicate: string): ServiceError {
  return new ServiceError("too_costly", `This image ${predicate} to render.`);
}

export function crashed(): ServiceError {
  return new ServiceError("unsupported_media", "This image crashes its decoder.");
}

export function stopped(cause?: unknown): ServiceError {
  return new ServiceError("overloaded", "The render was interrupted.", { cause, retryAfterMs: 1000 });
}

export function notStarted(cause?: unknown): ServiceError {
  return new ServiceError("overloaded", "No render process can be started just now.", {
    cause,
    retryAfterMs: 5000,
  });
}
