import { availableParallelism } from "node:os";
import { checkOptions, type RuleTable, rules } from "@outrigger/core/stores";

/** Options of {@link createRenderer}. Numbers are integers; any other value is a `TypeError`. */
export interface RendererOptions {
  /**
   * Pixels that an original may have, over all its frames. An SVG has none until it is drawn: only the output limits bind it.
   * Range 1 to 1,000,000,000.
   * @default 50_000_000
   */
  maxPixels?: number;
  /**
   * Frames that an animation may have. Range 1 to 10,000.
   * @default 60
   */
  maxFrames?: number;
  /**
   * Pixels of a rendition's longer side; a larger one is scaled down. Range 1 to 16,383 (the most that WebP can hold).
   * @default 8192
   */
  maxSide?: number;
  /**
   * Pixels of a rendition; a larger one is scaled down. Range 1 to 268,000,000.
   * @default 25_000_000
   */
  maxOutputPixels?: number;
  /**
   * Pixels of a GIF rendition, of one frame; a larger one is scaled down. Lower than `maxOutputPixels` because finding a
   * palette takes 0.4 s a megapixel, ten times as much as any other encoder. Range 1 to 268,000,000.
   * @default 4_000_000
   */
  maxGifOutputPixels?: number;
  /**
   * Pixels of a WebP rendition; a larger one is scaled down. Lower than `maxOutputPixels` because its encoder takes 15 MB
   * a megapixel beside the picture. Range 1 to 268,000,000.
   * @default 16_000_000
   */
  maxWebpOutputPixels?: number;
  /**
   * Pixels of an AVIF rendition; a larger one is scaled down. Lower than `maxOutputPixels` because its encoder takes
   * 45 MB and 0.3 s a megapixel. Range 1 to 268,000,000.
   * @default 6_000_000
   */
  maxAvifOutputPixels?: number;
  /**
   * Pixels of an animated rendition (GIF or WebP), all frames together. A larger one is scaled down and keeps all its
   * frames. Range 1 to 268,000,000.
   * @default 10_000_000
   */
  maxAnimationOutputPixels?: number;
  /**
   * Milliseconds that a worker may spend on one picture, reading it included. The wait for a worker does not count. A worker
   * that takes longer is killed. The picture is too costly if the worker had the processor for 80 % of that time. Otherwise
   * the machine was busy, and a retry may succeed. Range 100 to 600,000.
   * @default 10_000
   */
  timeoutMs?: number;
  /**
   * Bytes of resident memory that a worker may reach on one picture; about 70 MiB of them are the worker itself. They are
   * measured 20 times a second, and a worker above the limit is killed. The system refuses allocations of 256 MiB beyond it.
   * On Linux only. At least 134,217,728.
   * @default 536_870_912
   */
  maxMemoryBytes?: number;
  /**
   * Bytes of resident memory that all workers may reach together. Above it, the picture that began last is queued again and
   * rendered when no other is. Two large pictures take turns; small ones are not affected. On Linux only. At least
   * 134,217,728.
   * @default `maxMemoryBytes`, and a quarter of it for each worker beyond the first
   */
  maxTotalMemoryBytes?: number;
  /**
   * Processes that render. They are started when first needed and kept. At least two by default, so that one hostile picture
   * does not hold up all others until its deadline. Their low priority leaves the processor to the host. Range 1 to 256.
   * @default the processors less one, at least 2
   */
  workers?: number;
  /**
   * Calls that may wait for a worker. One more is rejected with `overloaded`. Range 0 to 100,000.
   * @default 64
   */
  maxQueue?: number;
  /**
   * Whether to keep an intermediate, at 1600 px, of each original that is costly to decode. Smaller sizes are made from it. It
   * takes up to 10 MB a picture or page, and turns 0.1 s and more of each further size into 0.02 s. Renditions have the same
   * bytes either way.
   * @default true
   */
  intermediates?: boolean;
}

const MIN_MEMORY_BYTES = 128 * 1024 ** 2;

const outputPixels = (preset: number) => rules.preset(preset, rules.whole(1, 268_000_000));

/** The rule and the default of each option. The default of `maxTotalMemoryBytes` follows from those of others. */
export const RENDERER_RULES = {
  maxPixels: rules.preset(50_000_000, rules.whole(1, 1_000_000_000)),
  maxFrames: rules.preset(60, rules.whole(1, 10_000)),
  maxSide: rules.preset(8192, rules.whole(1, 16_383)),
  maxOutputPixels: outputPixels(25_000_000),
  maxGifOutputPixels: outputPixels(4_000_000),
  maxWebpOutputPixels: outputPixels(16_000_000),
  maxAvifOutputPixels: outputPixels(6_000_000),
  maxAnimationOutputPixels: outputPixels(10_000_000),
  timeoutMs: rules.preset(10_000, rules.whole(100, 600_000)),
  maxMemoryBytes: rules.preset(512 * 1024 ** 2, rules.whole(MIN_MEMORY_BYTES)),
  maxTotalMemoryBytes: rules.whole(MIN_MEMORY_BYTES),
  workers: rules.preset(Math.max(2, availableParallelism() - 1), rules.whole(1, 256)),
  maxQueue: rules.preset(64, rules.whole(0, 100_000)),
  intermediates: rules.preset(true, rules.flag()),
} satisfies RuleTable<RendererOptions>;

/** Fills in the defaults. Throws `TypeError` on a value out of its range. */
export function resolveRendererOptions(options: RendererOptions): Required<RendererOptions> {
  const { maxTotalMemoryBytes, ...resolved } = checkOptions("createRenderer", options, RENDERER_RULES);
  const { maxMemoryBytes, workers } = resolved;
  // Room for one large picture beside usual ones.
  const roomBytes = Math.round(maxMemoryBytes * (1 + (workers - 1) / 4));
  return { ...resolved, maxTotalMemoryBytes: maxTotalMemoryBytes ?? roomBytes };
}
