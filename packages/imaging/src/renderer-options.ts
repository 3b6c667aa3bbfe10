import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { checkOptions, rules } from "@outrigger/core/stores";

const MIN_MEMORY_BYTES = 128 * 1024 ** 2;

/** Pixels of the longer side of a rendition. A larger rendition is scaled down. */
const MAX_SIDE = 8192;

/** The rule and the default of each option. */
export const RENDERER_RULES = {
  /**
   * Pixels of an original, all frames together, up to 1,000,000,000. Does not apply to SVG; the limits of output do.
   * @default 50_000_000
   */
  maxPixels: rules.preset(50_000_000, rules.whole(1, 1_000_000_000)),
  /** Frames of an animation, up to 10,000. @default 500 */
  maxFrames: rules.preset(500, rules.whole(1, 10_000)),
  /**
   * Pixels of a rendition, up to 268,000,000. A larger rendition is scaled down. Costly encoders get a share: 16 %
   * for a frame of a GIF, 24 % for AVIF, 64 % for WebP, and 40 % for all frames of an animation.
   * @default 25_000_000
   */
  maxOutputPixels: rules.preset(25_000_000, rules.whole(1, 268_000_000)),
  /**
   * Milliseconds that a worker may spend on one picture, without the wait for a worker, 100 to 600,000. A worker that
   * takes longer is killed. If it had the processor for 80 % of that time, the picture is too costly; otherwise the
   * machine was busy, and a retry may succeed.
   * @default 10_000
   */
  timeoutMs: rules.preset(10_000, rules.time(100, 600_000)),
  /**
   * Bytes of resident memory of a worker while it renders one picture, from 134,217,728; the worker itself takes
   * about 70 MiB. A worker above the limit is killed. All workers together have a quarter of it more for each worker
   * beyond the first; above that, the latest render is stopped and answers 503. Linux only.
   * @default 536_870_912
   */
  maxMemoryBytes: rules.preset(512 * 1024 ** 2, rules.size(MIN_MEMORY_BYTES)),
  /**
   * Worker processes, 1 to 256, at low priority. The first starts with the service, the others when needed. With two
   * or more, a hostile picture does not block all others until its deadline.
   * @default the number of processors minus one, at least 2
   */
  workers: rules.preset(Math.max(2, availableParallelism() - 1), rules.whole(1, 256)),
  /**
   * Path of the Node that runs the worker processes, 20.19 or newer.
   * @default the running Node; under Bun and Deno, the first `node` on the `PATH`
   */
  node: rules.text("the path of Node's executable", existsSync),
  /** Pictures of all clients that may wait for a worker, up to 100,000; more are refused. @default 64 */
  maxQueue: rules.preset(64, rules.whole(0, 100_000)),
  /**
   * Pictures after which a worker is replaced, up to 1,000,000. With 1, a decoder that one picture took over never
   * sees another: for private pictures of several clients. A new worker costs about 0.3 s of CPU time.
   * @default 1000
   */
  maxTasksPerWorker: rules.preset(1000, rules.whole(1, 1_000_000)),
  /**
   * How workers are confined on Linux. `best`: by bubblewrap, or not at all where it does not work. `required`: by
   * bubblewrap; if it does not work, each call rejects with `not_implemented`, and its `cause` has the reason. `off`: not
   * at all. Node's permission model binds the JavaScript of a worker in each case; see docs/security.md.
   * @default "best"
   */
  sandbox: rules.preset("best", rules.oneOf("required", "best", "off")),
};

/** Options of `createRenderer`. */
export interface RendererOptions extends rules.Options<typeof RENDERER_RULES> {}

/** Fills in the defaults and the limits that no option sets. Throws `TypeError` for a value out of range. */
export function resolveRendererOptions(options: RendererOptions) {
  const resolved = checkOptions("createRenderer", options, RENDERER_RULES);
  const { maxMemoryBytes, workers } = resolved;
  // Memory for one large picture beside usual ones.
  const maxTotalMemoryBytes = Math.round(maxMemoryBytes * (1 + (workers - 1) / 4));
  return { ...resolved, maxSide: MAX_SIDE, maxTotalMemoryBytes };
}
