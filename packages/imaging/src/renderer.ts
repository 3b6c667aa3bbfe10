import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { Renderer, RenderSource, WorkOptions } from "@outrigger/core/images";
import { packageFile } from "@outrigger/core/stores";
import { buildOf, look } from "./build.ts";
import { startFontCache } from "./pool/font-cache.ts";
import { createLevelSearch } from "./pool/sandbox/levels.ts";
import { writeCleaned } from "./pool/source-file.ts";
import type { Request } from "./pool/worker-pipe.ts";
import { WorkerPool } from "./pool/worker-pool.ts";
import { readAdmission, readRendition } from "./read-reply.ts";
import { type RendererOptions, resolveRendererOptions } from "./renderer-options.ts";
import { measure, usesIntermediate } from "./shared/measure.ts";
import type { Task } from "./shared/wire.ts";

/**
 * Creates a renderer that reads every original type and writes every format, in child processes with limits on time and
 * memory, in the strongest sandbox that works here. The first process starts with the service that uses the renderer. It uses sharp, PDFium for PDF, and its own reader and writer for PSD.
 *
 * Throws `TypeError` for options out of range, and `Error` in a bundle without the files of this package or under Yarn's
 * Plug'n'Play.
 */
export function createRenderer(options: RendererOptions = {}): Renderer {
  if (process.versions.pnp !== undefined) {
    throw new Error(
      "createRenderer starts processes, which cannot read packages of Yarn's Plug'n'Play. Set nodeLinker: node-modules in .yarnrc.yml",
    );
  }
  const { timeoutMs, maxMemoryBytes, maxTotalMemoryBytes, workers, maxQueue, ...others } =
    resolveRendererOptions(options);
  const { maxTasksPerWorker, intermediates, sandbox, language, ...limits } = others;
  const levels = createLevelSearch(sandbox);
  const locale = localeOf(language);
  let endFontCache: (() => Promise<void>) | undefined;
  let isClosed = false;
  const pool = new WorkerPool({
    // A bundler may copy the entry, but not what it imports.
    entry: packageFile("createRenderer", "@outrigger/imaging", () => [
      new URL("./worker/worker.js", import.meta.url),
      new URL("./worker/render.js", import.meta.url),
    ]),
    locale,
    levels,
    timeoutMs,
    maxMemoryBytes,
    workers,
    maxTasksPerWorker,
    maxTotalMemoryBytes,
    // Memory that a worker still holds counts towards the limit of its next picture.
    maxRestingBytes: maxMemoryBytes / 2,
  });
  const writeFontCache = () => {
    endFontCache ??= startFontCache(new URL("./worker/write-font-cache.js", import.meta.url), locale);
  };
  const run = <Result>(request: Request<Result>, work?: WorkOptions): Promise<Result> => {
    writeFontCache();
    return pool.run(request, work);
  };
  return {
    build: buildOf(limits, language),
    workers,
    maxQueue,
    get sandbox() {
      return levels.result();
    },
    look,
    measure: (original, spec) => measure(original, spec, limits),
    usesIntermediate: (original, spec) => intermediates && usesIntermediate(original, spec, limits),
    canRender: () => true,
    async admit(given, type, { cleanedPath, ...kept }, work) {
      const source = absolute(given);
      const path = resolve(cleanedPath);
      const task: Task = { kind: "admit", type, kept, limits };
      const { info, cleaned } = await run({ task, source, read: readAdmission }, work);
      return { ...info, cleaned: cleaned === null ? null : await writeCleaned(path, source, cleaned) };
    },
    render(source, type, spec, work) {
      const mode = work?.fromIntermediate
        ? "from intermediate"
        : intermediates
          ? "with intermediate"
          : "direct";
      const task: Task = { kind: "render", type, spec, limits, mode };
      return run({ task, source: absolute(source), read: readRendition }, work);
    },
    async start() {
      // A process that ends at once starts nothing.
      await new Promise((resolve) => setTimeout(resolve, 0).unref());
      if (isClosed) return;
      writeFontCache();
      await pool.start();
    },
    async close() {
      isClosed = true;
      await Promise.all([pool.close(), endFontCache?.()]);
    },
  };
}

/**
 * Never called. Tools that copy what a program imports, such as Next.js with `output: "standalone"`, find the worker's
 * libraries by it. Bundlers ignore this form of `require`.
 */
export function traceWorker(): void {
  const require = createRequire(import.meta.url);
  require("./worker/worker.js");
}

/** The POSIX locale of a language. Libraries read its language and its region. */
function localeOf(language: string): string {
  const { language: name, region } = new Intl.Locale(language).maximize();
  return `${name}_${region}.UTF-8`;
}

/** Makes the path absolute, in case the host changes its directory while the task waits. */
function absolute(source: RenderSource): RenderSource {
  return "path" in source ? { ...source, path: resolve(source.path) } : source;
}
