import type {
  Admission,
  AdmitOptions,
  ErrorCode,
  OriginalType,
  RenderSource,
  RenditionSpec,
} from "@outrigger/core";

/** The limits that a worker applies. {@link RendererOptions} has their meanings and defaults. */
export interface PictureLimits {
  maxPixels: number;
  maxFrames: number;
  maxSide: number;
  maxOutputPixels: number;
  maxGifOutputPixels: number;
  maxWebpOutputPixels: number;
  maxAvifOutputPixels: number;
  maxAnimationOutputPixels: number;
}

/** A request from the host to a worker. The host sends the next task only after the reply. */
export type Task =
  | { kind: "admit"; source: RenderSource; type: OriginalType; options: AdmitOptions; limits: PictureLimits }
  | {
      kind: "render";
      source: RenderSource;
      type: OriginalType;
      spec: RenditionSpec;
      limits: PictureLimits;
      mode: RenderMode;
    };

/**
 * `direct`: render from the original. `with intermediate`: the same, and also return the intermediate, if any. `from
 * intermediate`: the source is an intermediate. All three give the same bytes.
 */
export type RenderMode = "direct" | "with intermediate" | "from intermediate";

/** The result of a task. */
export type TaskResult = Admission | Rendered;

/** A rendition as a worker sends it to the host. */
export interface Rendered {
  /** The bytes of the rendition, followed by those of its intermediate. */
  bytes: Buffer;
  /** Length of the rendition within `bytes`. */
  renditionBytes: number;
}

/** Cost of a task: CPU milliseconds, and bytes of memory that the worker holds after it. */
export interface Usage {
  cpuMs: number;
  residentBytes: number;
}

/**
 * A message from a worker to the host: first `ready` or `unusable`, then one `done` or `failed` per task. Large results
 * are preceded by their bytes in pieces.
 */
export type WorkerMessage<Result> =
  | { kind: "ready" }
  /** The worker cannot load its libraries. It exits. */
  | { kind: "unusable"; reason: string }
  /** The next bytes of the result. The result itself then has empty bytes. */
  | { kind: "piece"; bytes: Buffer }
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
