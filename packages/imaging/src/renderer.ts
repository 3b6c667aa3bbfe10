import { resolve } from "node:path";
import type { Admission, Renderer, RenderSource, Rendition } from "@outrigger/core";
import { buildOf, look } from "./build.ts";
import { createWorkerPool } from "./pool/worker-pool.ts";
import { type RendererOptions, resolveRendererOptions } from "./renderer-options.ts";
import { usesIntermediate } from "./shared/intermediate.ts";
import { measure } from "./shared/measure.ts";
import type { Rendered, Task, TaskResult } from "./shared/wire.ts";

/** A precaution against leaks: 600 pictures in a row showed none. A new worker costs 0.1 s of processor. */
const MAX_TASKS_PER_WORKER = 1000;

/**
 * A renderer of every original type as every format, in child processes with bounds on time and memory. It is built on sharp,
 * with PDFium for PDF and readers and writers of its own for PSD.
 *
 * Throws `TypeError` on options out of range.
 */
export function createRenderer(options: RendererOptions = {}): Renderer {
  const { timeoutMs, maxMemoryBytes, maxTotalMemoryBytes, workers, maxQueue, intermediates, ...limits } =
    resolveRendererOptions(options);
  const pool = createWorkerPool<Task, TaskResult>({
    entry: new URL("./worker/worker.js", import.meta.url),
    timeoutMs,
    maxMemoryBytes,
    workers,
    maxQueue,
    maxTasksPerWorker: MAX_TASKS_PER_WORKER,
    maxTotalMemoryBytes,
    // Memory that a worker still holds counts against its next picture.
    maxRestingBytes: maxMemoryBytes / 2,
  });
  return {
    build: buildOf(limits),
    workers,
    maxQueue,
    look,
    measure: (original, spec) => measure(original, spec, limits),
    usesIntermediate: (original, spec) => intermediates && usesIntermediate(original, spec, limits),
    canRender: () => true,
    async admit(source, type, options, work) {
      const cleanedPath = resolve(options.cleanedPath);
      const task: Task = {
        kind: "admit",
        source: absolute(source),
        type,
        options: { ...options, cleanedPath },
        limits,
      };
      // A worker answers a task with the result of its kind.
      return (await pool.run(task, work)) as Admission;
    },
    async render(source, type, spec, work) {
      const mode = work?.fromIntermediate
        ? "from intermediate"
        : intermediates
          ? "with intermediate"
          : "direct";
      const task: Task = { kind: "render", source: absolute(source), type, spec, limits, mode };
      // As above.
      return separate((await pool.run(task, work)) as Rendered);
    },
    close: () => pool.close(),
  };
}

function separate({ bytes, renditionBytes }: Rendered): Rendition {
  if (renditionBytes === bytes.length) return { bytes };
  return { bytes: bytes.subarray(0, renditionBytes), intermediate: bytes.subarray(renditionBytes) };
}

/** Workers run in another directory, where a relative path would mean another file. */
function absolute(source: RenderSource): RenderSource {
  return "path" in source ? { ...source, path: resolve(source.path) } : source;
}
