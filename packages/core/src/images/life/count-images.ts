import { checkOptions } from "../../check-options.ts";
import { flag, fn, preset, type RuleTable, whole } from "../../option-rules.ts";
import { type ImageState, type ListedImage, lookAt, NEWER } from "./image-listing.ts";
import type { LifeContext } from "./life-context.ts";

/** Counts of images by state, with the bytes of those originals that are still stored. */
export interface ImageCounts {
  images: number;
  bytes: number;
  states: Record<ImageState, number>;
  /** Images that a newer release wrote. This release cannot read their records, so no other count includes them. */
  newer: number;
}

export interface ImageStats extends ImageCounts {
  /** Whether the numbers are estimated from a random sample of the images. */
  isEstimate: boolean;
  /** Share of the images that was read; 1: the numbers are exact. */
  readShare: number;
  /** Error of each estimated number, plus or minus, at 95 % confidence. `null`: the numbers are exact. */
  margin: ImageCounts | null;
}

export interface CountOptions {
  /** Whether to read every record instead of estimating. @default false */
  exact?: boolean | undefined;
  /** Milliseconds to read a data directory before the rest is estimated. @default 3000 */
  budgetMs?: number | undefined;
  /** Called with the number of images read so far. */
  onProgress?(images: number): void;
}

const RULES = {
  exact: preset(false, flag()),
  budgetMs: preset(3_000, whole(0)),
  onProgress: preset(() => undefined, fn()),
} satisfies RuleTable<CountOptions>;

/** Minimum number of shards for an estimate. Fewer do not show how much shards differ. */
const MIN_SHARDS = 8;
/** Number of records read concurrently. */
const AT_ONCE = 8;

/** Counts images. Reads the shards of a store in random order, and estimates those beyond the time budget. */
export async function countImages(context: LifeContext, options?: CountOptions): Promise<ImageStats> {
  const { exact, budgetMs, onProgress } = checkOptions("stats", options, RULES);
  const { shards } = context.records;
  if (shards === null) return countAll(context, onProgress);
  const endsAt = exact ? Number.POSITIVE_INFINITY : performance.now() + budgetMs;
  const read: ImageCounts[] = [];
  let done = 0;
  for await (const { ids, shardCount } of shards()) {
    const counts = noImages();
    await forEach(ids, async (id) => {
      const image = await lookAt(context, id);
      if (image === null) return;
      add(counts, image);
      onProgress(++done);
    });
    read.push(counts);
    const isEnough = read.length >= MIN_SHARDS && performance.now() >= endsAt;
    if (isEnough && read.length < shardCount) return estimated(read, shardCount);
  }
  return counted(overAll(read, total));
}

async function countAll(context: LifeContext, onProgress: (images: number) => void): Promise<ImageStats> {
  const counts = noImages();
  for await (const id of context.records.ids()) {
    const image = await lookAt(context, id);
    if (image === null) continue;
    add(counts, image);
    onProgress(counts.images);
  }
  return counted(counts);
}

/** Calls `work` for each item, several at a time. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const takeOnes = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeOnes));
}

function counted(counts: ImageCounts): ImageStats {
  return { ...counts, isEstimate: false, readShare: 1, margin: null };
}

/** @param read Counts of randomly drawn shards. */
function estimated(read: readonly ImageCounts[], shardCount: number): ImageStats {
  const count = (key: keyof Estimate) => (values: readonly number[]) =>
    estimateCount(values, shardCount)[key];
  const sum = (key: keyof Estimate) => (values: readonly number[]) =>
    Math.round(estimateTotal(values, shardCount)[key]);
  return {
    ...overAll(read, sum("value"), count("value")),
    isEstimate: true,
    readShare: read.length / shardCount,
    margin: overAll(read, sum("margin"), count("margin")),
  };
}

type Summary = (values: readonly number[]) => number;

/** Sums each number over all shards. @param ofState Sum for numbers that may be small. */
function overAll(read: readonly ImageCounts[], sum: Summary, ofState: Summary = sum): ImageCounts {
  const states = noImages().states;
  for (const state of Object.keys(states) as ImageState[]) {
    states[state] = ofState(read.map((counts) => counts.states[state]));
  }
  return {
    images: sum(read.map(({ images }) => images)),
    bytes: sum(read.map(({ bytes }) => bytes)),
    states,
    newer: ofState(read.map(({ newer }) => newer)),
  };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0);
}

function noImages(): ImageCounts {
  const states = {
    ...{ processing: 0, ready: 0, withheld: 0, failed: 0, deleted: 0, expired: 0, removed: 0 },
    damaged: 0,
  };
  return { images: 0, bytes: 0, states, newer: 0 };
}

function add(counts: ImageCounts, image: ListedImage | typeof NEWER): void {
  if (image === NEWER) {
    counts.newer++;
    return;
  }
  const { state, size } = image;
  counts.images++;
  counts.states[state]++;
  if (state === "processing" || state === "ready" || state === "withheld") counts.bytes += size;
}

/** A sum over all parts, estimated from some of them. */
export interface Estimate {
  value: number;
  /** Half the width of the 95 % confidence interval of the true sum. */
  margin: number;
}

/**
 * Estimates a sum from parts drawn at random without replacement: the mean of the drawn parts times the number of
 * parts, with a margin from Student's distribution (Cochran, Sampling Techniques, 2.6 to 2.9).
 * @param read Sums of the drawn parts, at least two.
 * @param parts Total number of parts.
 */
export function estimateTotal(read: readonly number[], parts: number): Estimate {
  const drawn = read.length;
  const mean = total(read) / drawn;
  const variance = total(read.map((each) => (each - mean) ** 2)) / (drawn - 1);
  const unread = Math.max(0, 1 - drawn / parts);
  return {
    value: mean * parts,
    margin: studentQuantile(drawn - 1) * parts * Math.sqrt((variance / drawn) * unread),
  };
}

/**
 * Like {@link estimateTotal}, for counts. A sample may hold none of a rare thing, and its variance is then 0. So the
 * margin is at least that of a Poisson distribution: three if the sample holds none.
 */
export function estimateCount(read: readonly number[], parts: number): Estimate {
  const { value, margin } = estimateTotal(read, parts);
  const share = read.length / parts;
  const poisson = (NORMAL_QUANTILE * Math.sqrt(total(read) + 1) + 1) / share;
  return { value: Math.round(value), margin: Math.ceil(Math.max(margin, poisson * Math.sqrt(1 - share))) };
}

/** Quantile of the normal distribution for the central 95 %. */
const NORMAL_QUANTILE = 1.96;

/** Quantile of Student's distribution for the central 95 %. Within 1 % from three degrees of freedom on. */
function studentQuantile(freedom: number): number {
  return NORMAL_QUANTILE + 2.37 / freedom + 2.8 / freedom ** 2;
}
