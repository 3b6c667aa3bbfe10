import type { ErrorCode } from "@outrigger/core";
import type {
  Admission,
  AdmitOptions,
  ConvertibleType,
  OriginalType,
  RenditionSpec,
} from "@outrigger/core/images";

/** The limits that a worker applies. `renderer-options.ts` has their meanings and defaults. */
export interface PictureLimits {
  maxPixels: number;
  maxFrames: number;
  maxSide: number;
  maxOutputPixels: number;
}

/** What `Renderer.admit` keeps in a file. */
export type Kept = Omit<AdmitOptions, "cleanedPath">;

/** A request from the host to a worker; the bytes to read come with it. The host sends the next task only after the reply. */
export type Task =
  | { kind: "admit"; type: OriginalType | ConvertibleType; kept: Kept; limits: PictureLimits }
  | { kind: "render"; type: OriginalType; spec: RenditionSpec; limits: PictureLimits };

/** The reply to `admit`. */
export interface Admitted extends Omit<Admission, "cleaned"> {
  /** The cleaned file; `null` if the file can be stored unchanged. */
  cleaned: readonly Piece[] | null;
}

/** A range of the bytes that the worker got (`source`) or that came with its reply (`reply`). */
export type Piece = readonly [of: "source" | "reply", start: number, end: number];

/** More pieces than this are joined to new bytes. */
export const MAX_PIECES = 1024;

/** Cost of a task: CPU milliseconds, and bytes of memory that the worker holds after it; `null`: unknown to it. */
export interface Usage {
  cpuMs: number;
  residentBytes: number | null;
}

/** A message from a worker to the host: first `ready` or `unusable`, then one `done` or `failed` per task. */
export type WorkerMessage<Result> =
  | { kind: "ready" }
  /** The worker cannot load its libraries. It exits. */
  | { kind: "unusable"; reason: string }
  | ({ kind: "done"; result: Result } & Usage)
  /**
   * `memory`: the system refused memory. `bug`: an error without a code of the contract. `detail` is for logs: a stack or
   * a cause.
   */
  | ({
      kind: "failed";
      code: ErrorCode | "memory" | "bug";
      message: string;
      detail: string;
    } & Usage);

/** The pipe between host and worker: the worker's file descriptor, and the entry of `stdio` in the host. */
export const PIPE = 3;
