import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Renderer, RenderSource, WorkOptions } from "@outrigger/core/images";
import { packageFile } from "@outrigger/core/stores";
import { buildOf } from "./build.ts";
import { ownRoot, rootOf } from "./package-roots.ts";
import { nodeProgram } from "./pool/node-program.ts";
import { createLevelSearch } from "./pool/sandbox/levels.ts";
import { childEnvironment, lowerPriority } from "./pool/start-process.ts";
import type { Request } from "./pool/worker-pipe.ts";
import { writeCleaned } from "./pool/worker-pipe.ts";
import { WorkerPool } from "./pool/worker-pool.ts";
import { readAdmission } from "./read-reply.ts";
import { type RendererOptions, resolveRendererOptions } from "./renderer-options.ts";
import { measure } from "./shared/measure.ts";
import type { Task } from "./shared/wire.ts";

/**
 * Creates a renderer that reads every original type and writes every format, in child processes with limits on time and
 * memory, in a sandbox where one works. The first process starts with the service that uses the renderer. It uses sharp, PDFium for PDF, and its own reader and writer for PSD.
 *
 * Throws `TypeError` for options out of range, and `Error` in a bundle without the files of this package, under Yarn's
 * Plug'n'Play, and without a Node that runs.
 */
export function createRenderer(options: RendererOptions = {}): Renderer {
  if (process.versions.pnp !== undefined) {
    throw new Error(
      "createRenderer starts processes, which cannot read packages of Yarn's Plug'n'Play. Set nodeLinker: node-modules in .yarnrc.yml",
    );
  }
  const { timeoutMs, maxMemoryBytes, maxTotalMemoryBytes, workers, maxQueue, ...others } =
    resolveRendererOptions(options);
  const { maxTasksPerWorker, sandbox, node: givenNode, ...limits } = others;
  const node = nodeProgram(givenNode);
  const levels = createLevelSearch(sandbox);
  let endFontCache: (() => Promise<void>) | undefined;
  let isClosed = false;
  const pool = new WorkerPool({
    // A bundler may copy the entry, but not what it imports.
    entry: packageFile("createRenderer", "@outrigger/imaging", () => [
      new URL("./worker/worker.js", import.meta.url),
      new URL("./worker/render.js", import.meta.url),
    ]),
    node,
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
    endFontCache ??= startFontCache(node.path);
  };
  const run = <Result>(request: Request<Result>, work?: WorkOptions): Promise<Result> => {
    writeFontCache();
    return pool.run(request, work);
  };
  return {
    build: buildOf(limits.maxOutputPixels),
    workers,
    maxQueue,
    get sandbox() {
      return levels.result();
    },
    measure: (original, spec) => measure(original, spec, limits),
    canConvert: (type) => type !== "image/heic" || isInstalled("heic-decode"),
    async admit(given, type, { cleanedPath, ...kept }, work) {
      const source = absolute(given);
      const path = resolve(cleanedPath);
      const task: Task = { kind: "admit", type, kept, limits };
      const { info, cleaned } = await run({ task, source, read: readAdmission }, work);
      return { ...info, cleaned: cleaned === null ? null : await writeCleaned(path, source, cleaned) };
    },
    render(source, type, spec, work) {
      const task: Task = { kind: "render", type, spec, limits };
      return run({ task, source: absolute(source), read: (_, bytes) => ({ bytes }) }, work);
    },
    async start() {
      // A process that ends at once starts nothing.
      await new Promise((resolve) => setTimeout(resolve, 0).unref());
      if (isClosed) return;
      await pool.start();
      // After the first process, so that they do not share a core.
      if (!isClosed) writeFontCache();
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

/** Whether an optional package can be loaded from here. */
function isInstalled(name: string): boolean {
  return rootOf(name, ownRoot()) !== null;
}

/** Makes the path absolute, in case the host changes its directory while the task waits. */
function absolute(source: RenderSource): RenderSource {
  return "path" in source ? { ...source, path: resolve(source.path) } : source;
}

/** Has fontconfig write its cache, once per process. */
let isStarted = false;

/**
 * Starts a process that writes the cache of fonts, outside the sandbox, which cannot write. Workers do not wait for it.
 * A failure only makes text slower.
 * @returns a function that ends it and resolves when it has exited.
 */
function startFontCache(node: string): () => Promise<void> {
  if (isStarted || process.platform !== "linux") return async () => undefined;
  isStarted = true;
  const entry = new URL("./worker/write-font-cache.js", import.meta.url);
  const child = spawn(node, [fileURLToPath(entry)], {
    env: childEnvironment(),
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = new Promise<void>((resolve) => {
    child.once("close", () => resolve()).once("error", () => resolve());
  });
  if (child.pid !== undefined) lowerPriority(child.pid);
  unref(child);
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill("SIGKILL");
    await gone;
  };
}

/** Lets this process exit while the child works. */
function unref(child: ChildProcess): void {
  child.unref();
  child.stdin?.on("error", () => undefined);
  // A pipe, which Node opens as a socket, and Bun does not.
  (child.stdin as Partial<Socket> | null)?.unref?.();
}
