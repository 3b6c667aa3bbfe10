import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ImageFormat, OriginalType, Renderer, RenderSource, WorkOptions } from "@outrigger/core/images";
import {
  type Admission,
  isColor,
  isPlaceholder,
  MAX_PAGE_RUNS,
  type PageSizes,
  type Rendition,
} from "@outrigger/core/images";
import { packageFile } from "@outrigger/core/stores";
import { buildOf } from "./build.ts";
import { ownRoot, rootOf } from "./package-roots.ts";
import { createLevelSearch } from "./pool/sandbox/levels.ts";
import { childEnvironment, lowerPriority } from "./pool/start-process.ts";
import type { Request } from "./pool/worker-pipe.ts";
import { writeCleaned } from "./pool/worker-pipe.ts";
import { WorkerPool } from "./pool/worker-pool.ts";
import { type RendererOptions, resolveRendererOptions } from "./renderer-options.ts";
import { measure, usesIntermediate } from "./shared/measure.ts";
import type { Task } from "./shared/wire.ts";
import { MAX_PIECES, type Piece } from "./shared/wire.ts";

/**
 * Conversions whose renditions changed visibly. When renditions of a type, a format or one conversion look different,
 * add an entry or raise its number by one. Stored renditions with a lower version are then rendered again after the reply.
 * Do not list invisible changes, such as a new encoder version, unless they protect people: `build` covers those.
 */
const RAISED: { type?: OriginalType; format?: ImageFormat; by: number }[] = [
  // Backgrounds of roots, and GIFs in embedded SVGs, are drawn.
  { type: "image/svg+xml", by: 1 },
  // Text without an embedded font is drawn with fonts of the machine.
  { type: "application/pdf", by: 1 },
  // Transparency declared by channel IDs; fills, and layers of all modes, of files without a merged picture.
  { type: "image/x-photoshop", by: 1 },
  // The canvas of a GIF is transparent where no frame draws.
  { type: "image/gif", by: 1 },
  // Resized frames of an animation do not mix at their edges.
  { type: "image/gif", format: "gif", by: 1 },
  { type: "image/gif", format: "webp", by: 1 },
  // Annotations of layers that are off are not drawn.
  { type: "application/pdf", by: 1 },
  // Copied pictures have no metadata; a PDF of a PDF hides what the document hides.
  { format: "svg", by: 1 },
  { format: "pdf", by: 1 },
  // HDR gain maps are kept.
  { type: "image/jpeg", format: "jpg", by: 1 },
];

/** `Renderer.version`. */
function versionOf(type: OriginalType, format: ImageFormat): number {
  return RAISED.filter((each) => (each.type ?? type) === type && (each.format ?? format) === format).reduce(
    (sum, { by }) => sum + by,
    1,
  );
}

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
    version: versionOf,
    measure: (original, spec) => measure(original, spec, limits),
    canConvert: (type) => type !== "image/heic" || isInstalled("heic-decode"),
    usesIntermediate: (original, spec) => intermediates && usesIntermediate(original, spec, limits),
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

/** Whether an optional package can be loaded from here. */
function isInstalled(name: string): boolean {
  return rootOf(name, ownRoot()) !== null;
}

/** Makes the path absolute, in case the host changes its directory while the task waits. */
function absolute(source: RenderSource): RenderSource {
  return "path" in source ? { ...source, path: resolve(source.path) } : source;
}

/** What an admission found, and the cleaned file, which the host writes. */
export interface AdmissionReply {
  info: Omit<Admission, "cleaned">;
  cleaned: { pieces: readonly Piece[]; bytes: Buffer } | null;
}

/** Verifies a reply to `admit`. A decoder may be under control of the file that it read. Throws for any other value. */
export function readAdmission(reply: unknown, bytes: Buffer, sourceBytes: number): AdmissionReply {
  const { width, height, pages, pageSizes, cleaned, placeholder, color, alpha, type, warnings } =
    fieldsOf(reply);
  if (placeholder !== undefined && !isPlaceholder(placeholder)) throw invalid();
  if (color !== undefined && !isColor(color)) throw invalid();
  if (alpha !== undefined && typeof alpha !== "boolean") throw invalid();
  if (type !== undefined && !isRasterType(type)) throw invalid();
  return {
    info: {
      ...(type === undefined ? {} : { type }),
      ...(warnings === undefined ? {} : { warnings: listOf(warnings, WARNINGS.length).map(warningOf) }),
      width: measureOf(width),
      height: measureOf(height),
      pages: measureOf(pages),
      ...(placeholder === undefined ? {} : { placeholder }),
      ...(color === undefined ? {} : { color }),
      ...(alpha === undefined ? {} : { alpha }),
      ...(pageSizes === undefined ? {} : { pageSizes: listOf(pageSizes, MAX_PAGE_RUNS).map(readRun) }),
    },
    cleaned: cleaned === null ? null : { pieces: readPieces(cleaned, bytes.length, sourceBytes), bytes },
  };
}

/** What a converted upload can become. */
const RASTER_TYPES = ["image/png", "image/jpeg", "image/gif"] as const;
const WARNINGS = [
  ...(["colors_reduced", "depth_reduced", "first_frame_only", "first_page_only"] as const),
  ...(["text_removed"] as const),
];

function isRasterType(given: unknown): given is (typeof RASTER_TYPES)[number] {
  return RASTER_TYPES.some((type) => type === given);
}

function warningOf(given: unknown): (typeof WARNINGS)[number] {
  const warning = WARNINGS.find((each) => each === given);
  if (warning === undefined) throw invalid();
  return warning;
}

/** Verifies a reply to `render`. Throws for any other value. */
export function readRendition(reply: unknown, bytes: Buffer): Rendition {
  const { renditionBytes } = fieldsOf(reply);
  if (renditionBytes === bytes.length) return { bytes };
  const length = wholeOf(renditionBytes, bytes.length);
  return { bytes: bytes.subarray(0, length), intermediate: bytes.subarray(length) };
}

function readRun(given: unknown): PageSizes[number] {
  const [firstPage, width, height] = listOf(given, 3).map((each) => wholeOf(each));
  return [wholeOf(firstPage), wholeOf(width), wholeOf(height)];
}

/** The ranges together are no longer than the bytes that they come from, so a reply cannot fill the disk. */
function readPieces(given: unknown, replyBytes: number, sourceBytes: number): Piece[] {
  const room = { source: sourceBytes, reply: replyBytes };
  return listOf(given, MAX_PIECES).map((piece) => {
    const [of, first, last] = listOf(piece, 3);
    if (of !== "source" && of !== "reply") throw invalid();
    const end = wholeOf(last, of === "source" ? sourceBytes : replyBytes);
    const start = wholeOf(first, end);
    room[of] -= end - start;
    if (room[of] < 0) throw invalid();
    return [of, start, end];
  });
}

function fieldsOf(reply: unknown): Record<string, unknown> {
  if (typeof reply !== "object" || reply === null) throw invalid();
  return { ...reply };
}

function listOf(given: unknown, maxLength: number): unknown[] {
  if (!Array.isArray(given) || given.length > maxLength) throw invalid();
  return given;
}

function measureOf(given: unknown): number | null {
  return given === null ? null : wholeOf(given);
}

function wholeOf(given: unknown, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof given !== "number" || !Number.isInteger(given) || given < 0 || given > max) throw invalid();
  return given;
}

function invalid(): Error {
  return new Error("A render process sent an invalid reply");
}

/** Has fontconfig write its cache, once per process. */
let isStarted = false;

/**
 * Starts a process that writes the cache of fonts, outside the sandbox, which cannot write. Workers do not wait for it.
 * A failure only makes text slower.
 * @returns a function that ends it and resolves when it has exited.
 */
function startFontCache(entry: URL, locale: string): () => Promise<void> {
  if (isStarted || process.platform !== "linux") return async () => undefined;
  isStarted = true;
  const child = spawn(process.execPath, [fileURLToPath(entry)], {
    env: childEnvironment(locale),
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
  // A pipe, which Node opens as a socket.
  (child.stdin as Socket | null)?.unref();
}
