import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { checkOptions } from "../../check-options.ts";
import type { RecordQueries } from "../../contracts/record-queries.ts";
import { flag, fn, preset, type RuleTable, whole } from "../../option-rules.ts";
import { shuffled } from "../../stores/shuffled.ts";
import { idOfRecord } from "../record/image-record.ts";
import type { LifeContext } from "./create-life.ts";
import { type ImageState, type ListedImage, lookAt, NEWER } from "./image-listing.ts";

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
  /** Milliseconds to count before the rest is estimated, in a data directory or PostgreSQL. @default 3000 */
  budgetMs?: number | undefined;
  /** Called with the number of images read so far. */
  onProgress?(images: number): void;
}

const RULES = {
  exact: preset(false, flag()),
  budgetMs: preset(3_000, whole(0)),
  onProgress: preset(() => undefined, fn()),
} satisfies RuleTable<CountOptions>;

/** Minimum number of parts for an estimate. Fewer do not show how much parts differ. */
const MIN_PARTS = 8;
/** Number of records read concurrently. */
const AT_ONCE = 8;

/** Counts images. Reads the parts of a store in random order, and estimates those beyond the time budget. */
export async function countImages(context: LifeContext, options?: CountOptions): Promise<ImageStats> {
  const { exact, budgetMs, onProgress } = checkOptions("stats", options, RULES);
  const parts = partsOf(context);
  if (parts === null) return countAll(context, onProgress);
  const endsAt = exact ? Number.POSITIVE_INFINITY : performance.now() + budgetMs;
  const read: ImageCounts[] = [];
  let done = 0;
  for await (const { counts, ids, partCount } of parts) {
    done += counts.images;
    onProgress(done);
    await forEachAtOnce(ids, AT_ONCE, async (id) => {
      const image = await lookAt(context, id);
      if (image === null) return;
      add(counts, image);
      onProgress(++done);
    });
    read.push(counts);
    const isEnough = read.length >= MIN_PARTS && performance.now() >= endsAt;
    if (isEnough && read.length < partCount) return estimated(read, partCount);
  }
  return counted(overAll(read, total));
}

/** A random part of the images. */
interface Part {
  /** Images that the store counted. */
  counts: ImageCounts;
  /** IDs whose records are still to be read. */
  ids: readonly string[];
  partCount: number;
}

/** The parts of the images in random order; `null`: the store has no parts. */
function partsOf({ records, settings }: LifeContext): AsyncGenerator<Part> | null {
  const { queries, shards } = records;
  if (queries !== null) return partsByQuery(queries, settings.now());
  return shards === null ? null : partsByShard(shards());
}

async function* partsByQuery(queries: RecordQueries, nowMs: number): AsyncGenerator<Part> {
  const { recordParts: partCount } = queries;
  for (const part of shuffled(Array.from({ length: partCount }, (_, at) => at))) {
    const found = await queries.countRecords(part, nowMs);
    const counts = noImages();
    for (const { state, images, bytes } of found.counts) addAll(counts, state, images, bytes);
    const ids = found.unknown.flatMap((key) => idOfRecord(key) ?? []);
    yield { counts, ids, partCount };
  }
}

async function* partsByShard(shards: AsyncGenerator<{ ids: string[]; shardCount: number }>) {
  for await (const { ids, shardCount } of shards) yield { counts: noImages(), ids, partCount: shardCount };
}

async function countAll(context: LifeContext, onProgress: (images: number) => void): Promise<ImageStats> {
  const counts = noImages();
  await forEachAtOnce(context.records.ids(), AT_ONCE, async (id) => {
    const image = await lookAt(context, id);
    if (image === null) return;
    add(counts, image);
    onProgress(counts.images);
  });
  return counted(counts);
}

function counted(counts: ImageCounts): ImageStats {
  return { ...counts, isEstimate: false, readShare: 1, margin: null };
}

/** @param read Counts of randomly drawn parts. */
function estimated(read: readonly ImageCounts[], partCount: number): ImageStats {
  const count = (key: keyof Estimate) => (values: readonly number[]) => estimateCount(values, partCount)[key];
  const sum = (key: keyof Estimate) => (values: readonly number[]) =>
    Math.round(estimateTotal(values, partCount)[key]);
  return {
    ...overAll(read, sum("value"), count("value")),
    isEstimate: true,
    readShare: read.length / partCount,
    margin: overAll(read, sum("margin"), count("margin")),
  };
}

type Summary = (values: readonly number[]) => number;

/** Sums each number over all parts. @param ofState Sum for numbers that may be small. */
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
    processing: 0,
    ready: 0,
    withheld: 0,
    failed: 0,
    deleted: 0,
    expired: 0,
    removed: 0,
    damaged: 0,
  };
  return { images: 0, bytes: 0, states, newer: 0 };
}

function add(counts: ImageCounts, image: ListedImage | typeof NEWER): void {
  if (image === NEWER) {
    counts.newer++;
    return;
  }
  addAll(counts, image.state, 1, image.size);
}

function addAll(counts: ImageCounts, state: ImageState, images: number, bytes: number): void {
  counts.images += images;
  counts.states[state] += images;
  if (state === "processing" || state === "ready" || state === "withheld") counts.bytes += bytes;
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
