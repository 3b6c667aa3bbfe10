import { resolve } from "node:path";
import type { ImageInfo, Renderer, RenderSource, Rendition } from "@outrigger/core";
import { ServiceError } from "@outrigger/core";
import { isDecodedType, isEncodedFormat } from "./conversions.ts";
import { type RendererOptions, resolveRendererOptions } from "./renderer-options.ts";
import { rendererVersion } from "./renderer-version.ts";
import type { Task, TaskResult } from "./wire.ts";
import { createWorkerPool } from "./worker-pool.ts";

/** Against leaks that nobody has seen yet: 600 pictures in a row left none. Starting anew costs 0.1 s of processor. */
const MAX_TASKS_PER_WORKER = 1000;

/**
 * A renderer on sharp, in child processes that are killed when a picture takes too long or too much memory; it reads
 * PNG, JPEG, GIF and SVG, and writes PNG, JPEG, GIF, WebP and AVIF. PSD and PDF it inspects only.
 *
 * Throws `TypeError` on options out of range.
 */
export function createRenderer(options: RendererOptions = {}): Renderer {
  const { timeoutMs, maxMemoryBytes, workers, maxQueue, ...limits } = resolveRendererOptions(options);
  const pool = createWorkerPool<Task, TaskResult>({
    entry: new URL("./worker.js", import.meta.url),
    timeoutMs,
    maxMemoryBytes,
    workers,
    maxQueue,
    maxTasksPerWorker: MAX_TASKS_PER_WORKER,
    // What it still holds counts against the next picture.
    maxRestingBytes: maxMemoryBytes / 2,
  });
  return {
    version: rendererVersion(limits),
    canRender: (type, format) => isDecodedType(type) && isEncodedFormat(format),
    async inspect(source, type, signal) {
      const task: Task = { kind: "inspect", source: absolute(source), type, limits };
      // A worker answers a task with the result of its kind.
      return (await pool.run(task, signal)) as ImageInfo;
    },
    async render(source, type, spec, signal) {
      if (!isDecodedType(type) || !isEncodedFormat(spec.format)) {
        throw new ServiceError("not_implemented", `No renderer for ${type} as ${spec.format} is installed.`);
      }
      const task: Task = { kind: "render", source: absolute(source), type, spec, limits };
      // As above.
      return (await pool.run(task, signal)) as Rendition;
    },
    close: () => pool.close(),
  };
}

/** Workers have a directory of their own, where a relative path would mean another file. */
function absolute(source: RenderSource): RenderSource {
  return "path" in source ? { path: resolve(source.path) } : source;
}
