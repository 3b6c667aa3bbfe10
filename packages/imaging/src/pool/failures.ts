import { constants } from "node:os";
import { ServiceError } from "@outrigger/core/values";
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

/** A parent that reports the signal `n` of its child exits with this code and `n`. */
const SIGNAL_BASE = 128;

/** Whether a process ended by its own fault. Within a sandbox, signals arrive as exit codes. */
export function isFault(code: number | null, signal: NodeJS.Signals | null): boolean {
  if (signal !== null) return faultSignals.has(signal);
  const number = (code ?? 0) - SIGNAL_BASE;
  const [name] = Object.entries(constants.signals).find(([, each]) => each === number) ?? [];
  return name === undefined ? code !== 0 : faultSignals.has(name as NodeJS.Signals); // A key of constants.signals.
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

export function crashed(cause?: unknown): ServiceError {
  return new ServiceError("unsupported_media", "This image crashes its decoder.", { cause });
}

export function stopped(cause?: unknown): ServiceError {
  return new ServiceError("overloaded", "The render was interrupted.", { cause, retryAfterMs: 1000 });
}

/** @param reason for the operator. Clients do not see it. */
export function notWorking(reason: string): ServiceError {
  return new ServiceError("not_implemented", "No working renderer is installed on this server.", {
    cause: new Error(reason),
  });
}

export function notStarted(cause?: unknown): ServiceError {
  return new ServiceError("overloaded", "No render process can be started just now.", {
    cause,
    retryAfterMs: 5000,
  });
}
