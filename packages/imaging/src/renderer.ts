import { resolve } from "node:path";
import type { Admission, Renderer, RenderSource, Rendition } from "@outrigger/core";
import { buildOf } from "./build.ts";
import { measure } from "./measure.ts";
import { createWorkerPool } from "./pool/worker-pool.ts";
import { type RendererOptions, resolveRendererOptions } from "./renderer-options.ts";
import type { Task, TaskResult } from "./wire.ts";

/** Against leaks that nobody has seen yet: 600 pictures in a row left none. Starting anew costs 0.1 s of processor. */
const MAX_TASKS_PER_WORKER = 1000;

/**
 * A renderer of every original type as every format, in child processes that are killed when a picture takes too long
 * or too much memory: on sharp, with PDFium for PDF and readers and writers of its own for PSD.
 *
 * Throws `TypeError` on options out of range.
 */
export function createRenderer(options: RendererOptions = {}): Renderer {
  const { timeoutMs, maxMemoryBytes, maxTotalMemoryBytes, workers, maxQueue, ...limits } =
    resolveRendererOptions(options);
  const pool = createWorkerPool<Task, TaskResult>({
    entry: new URL("./worker.js", import.meta.url),
    timeoutMs,
    maxMemoryBytes,
    workers,
    maxQueue,
    maxTasksPerWorker: MAX_TASKS_PER_WORKER,
    maxTotalMemoryBytes,
    // What it still holds counts against the next picture.
    maxRestingBytes: maxMemoryBytes / 2,
  });
  return {
    build: buildOf(limits),
    workers,
    maxQueue,
    look: () => LOOK,
    measure: (original, spec) => measure(original, spec, limits),
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
      const task: Task = { kind: "render", source: absolute(source), type, spec, limits };
      // As above.
      return (await pool.run(task, work)) as Rendition;
    },
    close: () => pool.close(),
  };
}

/** Raised when renditions are to look different than before. */
const LOOK = 1;

/** Workers have a directory of their own, where a relative path would mean another file. */
function absolute(source: RenderSource): RenderSource {
  return "path" in source ? { path: resolve(source.path) } : source;
}
