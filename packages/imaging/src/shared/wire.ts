import type {
  Admission,
  AdmitOptions,
  ErrorCode,
  OriginalType,
  RenderSource,
  RenditionSpec,
} from "@outrigger/core";

/** The limits that a worker itself applies. Meanings and defaults: {@link RendererOptions}. */
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

/** A request of the host to a worker: one task at a time, the next only after the answer. */
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
 * `direct`: from the original. `with intermediate`: the same, and the intermediate is returned too, where there is one.
 * `from intermediate`: the source is one. All three give the same bytes.
 */
export type RenderMode = "direct" | "with intermediate" | "from intermediate";

/** The result of a task. */
export type TaskResult = Admission | Rendered;

/** A rendition on its way to the host. */
export interface Rendered {
  /** Of the rendition, and behind them those of its intermediate. */
  bytes: Buffer;
  /** How many are the rendition's. */
  renditionBytes: number;
}

/** Cost of a task: CPU milliseconds, and bytes of memory that the worker holds after it. */
export interface Usage {
  cpuMs: number;
  residentBytes: number;
}

/**
 * A message of a worker to the host: first `ready` or `unusable`, then one `done` or `failed` per task. Large bytes come in
 * pieces before it.
 */
export type WorkerMessage<Result> =
  | { kind: "ready" }
  /** It cannot load what it needs. It ends itself. */
  | { kind: "unusable"; reason: string }
  /** The next of the bytes that belong to the result, whose own are then empty. */
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
