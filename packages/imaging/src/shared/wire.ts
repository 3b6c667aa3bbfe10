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

/** What the parent asks of a worker: one task at a time, the next only after the answer. */
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

/** What a task ends with. */
export type TaskResult = Admission | Rendered;

/** A rendition on its way to the parent. */
export interface Rendered {
  /** Of the rendition, and behind them those of its intermediate. */
  bytes: Buffer;
  /** How many are the rendition's. */
  renditionBytes: number;
}

/** What a task took: CPU milliseconds, and bytes of memory that the worker holds after it. */
export interface Usage {
  cpuMs: number;
  residentBytes: number;
}

/** What a worker tells its parent: first `ready` or `unusable`, then one `done` or `failed` per task, before
 * which large bytes come in pieces. */
export type WorkerMessage<Result> =
  | { kind: "ready" }
  /** It cannot load what it needs. It ends itself. */
  | { kind: "unusable"; reason: string }
  /** The next of the bytes that belong to the result, whose own are then empty. */
  | { kind: "piece"; bytes: Buffer }
  | ({ kind: "done"; result: Result } & Usage)
  /**
   * `memory`: it was refused memory. `bug`: not a failure that the contract knows. `detail` is for logs: a stack, or a
   * cause.
   */
  | ({
      kind: "failed";
      code: ErrorCode | "memory" | "bug";
      message: string;
      detail: string;
    } & Usage);
