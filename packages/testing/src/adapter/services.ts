import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import {
  type Call,
  type ErrorCode,
  isServiceError,
  type Reply,
  type Service,
  type UploadLimits,
} from "@outrigger/core";

const STATUS: Partial<Record<ErrorCode, number>> = {
  bad_request: 400,
  timeout: 408,
  too_large: 413,
  unsupported_media: 415,
  host_misuse: 500,
  overloaded: 503,
  store_unavailable: 503,
  no_space: 507,
};

export function service(handle: (call: Call) => Promise<Reply | undefined>): Service {
  return { handle };
}

export function json(status: number, value: unknown): Reply {
  const body = JSON.stringify(value);
  return {
    status,
    headers: { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) },
    body,
  };
}

/** Answers expected errors with their code, like the real services. */
export function replying(handle: (call: Call) => Promise<Reply | undefined>): Service {
  return service(async (call) => {
    try {
      return await handle(call);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      return json(STATUS[error.code] ?? 500, { code: error.code, message: error.message });
    }
  });
}

export const UPLOAD_LIMITS: UploadLimits = {
  fileFields: ["imagedata"],
  maxFileBytes: 6 * 1024 * 1024,
  maxFields: 8,
  maxFieldBytes: 4096,
  idleMs: 5000,
  minBytesPerSecond: 1024,
};

export interface UploadReport {
  name: string;
  declaredType: string;
  size: number;
  sha256: string;
  headLength: number;
  headSha256: string;
  /** Hash and mode of the file on disk. */
  diskSha256: string;
  diskMode: number;
  fields: Record<string, string>;
  fieldsPrototype: string;
}

export interface UploadLog {
  started: number;
  settled: number;
  /** The error of the last rejected upload. */
  error: unknown;
  /** The signal of the last call. */
  signal: AbortSignal | undefined;
}

/** Receives an upload, reports it, and disposes of it. */
export function uploadService(limits: UploadLimits): Service & { log: UploadLog } {
  const log: UploadLog = { started: 0, settled: 0, error: undefined, signal: undefined };
  const { handle } = replying(async (call) => {
    log.started++;
    log.signal = call.signal;
    try {
      return json(200, await receive(call, limits));
    } catch (error) {
      log.error = error;
      throw error;
    } finally {
      log.settled++;
    }
  });
  return { handle, log };
}

async function receive(call: Call, limits: UploadLimits): Promise<UploadReport> {
  const { file, fields } = await call.upload(limits);
  try {
    return {
      name: file.name,
      declaredType: file.declaredType,
      size: file.size,
      sha256: file.sha256,
      headLength: file.head.length,
      headSha256: sha256(file.head),
      diskSha256: sha256(await readFile(file.path)),
      diskMode: (await stat(file.path)).mode & 0o777,
      fields: { ...fields },
      fieldsPrototype: String(Object.getPrototypeOf(fields)),
    };
  } finally {
    await file.dispose();
    // A second call does no harm.
    await file.dispose();
  }
}

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
