import type { WorkerMessage } from "../shared/wire.ts";

/** The faults of a picture, and of the process itself. A worker reports no other. */
const CODES = ["bad_request", "unsupported_media", "too_costly", "not_implemented", "memory", "bug"] as const;

/**
 * Verifies the form of a message, except that of a result. A decoder may be under control of the file that it read.
 * Throws for any other value.
 */
export function readMessage(given: unknown): WorkerMessage<unknown> {
  const fields: Record<string, unknown> = typeof given === "object" && given !== null ? { ...given } : {};
  const { kind, result } = fields;
  if (kind === "ready") return { kind };
  if (kind === "unusable") return { kind, reason: text(fields.reason) };
  const usage = {
    cpuMs: amount(fields.cpuMs),
    residentBytes: fields.residentBytes === null ? null : amount(fields.residentBytes),
  };
  if (kind === "done") return { kind, result, ...usage };
  const code = CODES.find((each) => each === fields.code);
  if (kind !== "failed" || code === undefined) throw invalid();
  return { kind, code, message: text(fields.message), detail: text(fields.detail), ...usage };
}

function text(given: unknown): string {
  if (typeof given !== "string") throw invalid();
  return given;
}

function amount(given: unknown): number {
  if (typeof given !== "number" || !(given >= 0)) throw invalid();
  return given;
}

function invalid(): Error {
  return new Error("A render process sent an invalid message");
}
