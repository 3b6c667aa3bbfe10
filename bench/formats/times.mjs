import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isServiceError } from "@outrigger/core";
import { median } from "../src/statistics.mjs";
import { formatColumns } from "../src/table.mjs";
import { createLargePhoto } from "./originals.mjs";

/** @import { ImageFormat, Renderer } from "@outrigger/core" */
/** @import { Original } from "./originals.mjs" */

/** @type {readonly ImageFormat[]} */
const FORMATS = ["png", "jpg", "gif", "webp", "avif", "svg", "psd", "pdf"];
const BOX = { maxWidth: 800, maxHeight: 800 };
const CALLS = 7;
/** No further call starts after this time. */
const MAX_MS = 5000;
const SMALL_CALLS = 100;
const SMALLEST_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>';

/**
 * The time to convert each original into each format, warm, one at a time, through the render processes.
 * @param {Renderer} renderer
 * @param {readonly Original[]} originals
 * @returns {Promise<string>} Two tables.
 */
export async function measureMatrix(renderer, originals) {
  const whole = await measureAll(renderer, originals, {});
  const boxed = await measureAll(renderer, originals, BOX);
  return `Full size, in ms:\n\n${whole}\n\nWith \`resize=800x800\`, in ms:\n\n${boxed}`;
}

/**
 * @param {Renderer} renderer
 * @param {readonly Original[]} originals
 * @param {{ maxWidth?: number, maxHeight?: number }} box
 */
async function measureAll(renderer, originals, box) {
  const rows = [];
  for (const { suffix, type, what, path } of originals) {
    const cells = [];
    for (const format of FORMATS) {
      if (format === suffix && box.maxWidth === undefined) cells.push("original");
      else cells.push(await timeInWords(() => renderer.render({ path }, type, { format, ...box })));
    }
    rows.push([`${suffix.toUpperCase()}, ${what}`, ...cells]);
  }
  return formatColumns(["original", ...FORMATS], rows, new Set(FORMATS));
}

/**
 * The time of admission: a decode that proves that the file is a picture, and cleaning.
 * @param {Renderer} renderer
 * @param {readonly Original[]} originals
 * @param {string} directory For what is written.
 * @returns {Promise<string>} A table.
 */
export async function measureAdmission(renderer, originals, directory) {
  const rows = [];
  for (const { suffix, type, what, path, bytes } of [...originals, await createLargePhoto(directory)]) {
    const cleanedPath = join(directory, "cleaned");
    const time = await timeInWords(
      () => renderer.admit({ path }, type, { cleanedPath }),
      () => rm(cleanedPath, { force: true }),
    );
    rows.push([`${suffix.toUpperCase()}, ${what}`, `${(bytes / 1e6).toFixed(1)} MB`, time]);
  }
  return formatColumns(["upload", "size", "ms"], rows, new Set(["size", "ms"]));
}

/**
 * The overhead of a call beside the work on the picture.
 * @param {Renderer} renderer
 * @returns {Promise<number>} Milliseconds.
 */
export function measureOverhead(renderer) {
  const source = { bytes: Buffer.from(SMALLEST_SVG) };
  return medianMs(() => renderer.render(source, "image/svg+xml", { format: "png" }), {
    calls: SMALL_CALLS,
  });
}

/**
 * @param {() => Promise<unknown>} call
 * @param {() => Promise<void>} [cleanUp]
 * @returns {Promise<string>} Milliseconds, or the status of what is over a limit.
 */
async function timeInWords(call, cleanUp) {
  try {
    const ms = await medianMs(call, { calls: CALLS, cleanUp });
    return ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
  } catch (error) {
    if (!isServiceError(error, "unsupported_media")) throw error;
    console.error(error.message);
    return "415";
  }
}

/**
 * @param {() => Promise<unknown>} call
 * @param {{ calls: number, cleanUp?: (() => Promise<void>) | undefined }} options `cleanUp` runs after each call.
 */
async function medianMs(call, { calls, cleanUp }) {
  await call();
  await cleanUp?.();
  const end = performance.now() + MAX_MS;
  /** @type {number[]} */
  const times = [];
  while (times.length < calls && (times.length === 0 || performance.now() < end)) {
    const begun = performance.now();
    await call();
    times.push(performance.now() - begun);
    await cleanUp?.();
  }
  return median(times);
}
