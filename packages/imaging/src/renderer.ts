import { resolve } from "node:path";
import type { Admission, Renderer, RenderSource, Rendition } from "@outrigger/core";
import { buildOf, look } from "./build.ts";
import { createWorkerPool } from "./pool/worker-pool.ts";
import { type RendererOptions, resolveRendererOptions } from "./renderer-options.ts";
import { usesIntermediate } from "./shared/intermediate.ts";
import { measure } from "./shared/measure.ts";
import type { Rendered, Task, TaskResult } from "./shared/wire.ts";

/**
 * A precaution against memory leaks, although 600 pictures in a row showed none. A new worker costs 0.1 s of processor
 * time.
 */
const MAX_TASKS_PER_WORKER = 1000;

/**
 * Creates a renderer that reads every original type and writes every format, in child processes with limits on time and
 * memory. It uses sharp, PDFium for PDF, and its own reader and writer for PSD.
 *
 * Throws `TypeError` for options out of range.
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
    // Memory that a worker still holds counts towards the limit of its next picture.
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
      // The kind of the task decides the type of its result.
      return (await pool.run(task, work)) as Admission;
    },
    async render(source, type, spec, work) {
      const mode = work?.fromIntermediate
        ? "from intermediate"
        : intermediates
          ? "with intermediate"
          : "direct";
      const task: Task = { kind: "render", source: absolute(source), type, spec, limits, mode };
      // The kind of the task decides the type of its result.
      return separate((await pool.run(task, work)) as Rendered);
    },
    close: () => pool.close(),
  };
}

function separate({ bytes, renditionBytes }: Rendered): Rendition {
  if (renditionBytes === bytes.length) return { bytes };
  return { bytes: bytes.subarray(0, renditionBytes), intermediate: bytes.subarray(renditionBytes) };
}

/** Makes the path absolute: workers run in another directory. */
function absolute(source: RenderSource): RenderSource {
  return "path" in source ? { ...source, path: resolve(source.path) } : source;
}
