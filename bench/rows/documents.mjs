import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { addressOf, get, upload } from "../src/client.mjs";
import { findProgram, runProgram } from "../src/programs.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { median } from "../src/statistics.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Picture } from "../src/corpus.mjs" */
/** @import { ProgramName } from "../src/programs.mjs" */
/** @import { Line } from "../src/report.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const CALLS = { full: 5, quick: 3, smoke: 1 };
const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;
/** A cached answer takes less than this share of the time of the render. */
const CACHED_SHARE = 0.25;
const NAMES = /** @type {const} */ (["ours", "theirs"]);

/**
 * @typedef {object} Conversion
 * @property {string} what
 * @property {Picture} original
 * @property {string} suffix
 * @property {{ width: number, height: number }} box Its width is the rendition's, its height more than the rendition's.
 * @property {ProgramName} program
 * @property {(input: string, output: string) => string[]} args Of the program, to make the same. `output` has no suffix.
 * @property {string} does The same in words.
 */

/**
 * Documents as pictures: a warm service that makes one new rendition after the other, against the whole process of a
 * program that does the same.
 */
export async function documents(/** @type {Bench} */ bench) {
  const server = await bench.start("outrigger-express", {
    maxUploadBytes: MAX_UPLOAD_BYTES,
  });
  /** @type {Line[]} */
  const lines = [];
  for (const conversion of await conversions(bench)) {
    const program = findProgram(conversion.program);
    if (program === null)
      console.log(`documents: no ${conversion.program} on the PATH, its lines are left out`);
    else lines.push(await compareWith(bench, server, conversion, program));
  }
  return lines;
}

/**
 * @param {Bench} bench
 * @returns {Promise<Conversion[]>}
 */
async function conversions({ corpus, settings }) {
  const isSmoke = settings.mode === "smoke";
  const psdWidth = isSmoke ? 200 : 800;
  return [
    {
      what: `PSD, 3000 × 2000, five layers → ${psdWidth} px JPEG`,
      original: await corpus.psd(),
      suffix: "jpg",
      box: { width: psdWidth, height: psdWidth },
      program: "convert",
      // Only the merged picture, which is also what Outrigger reads.
      args: (input, output) => [`${input}[0]`, "-resize", `${psdWidth}x`, "-quality", "90", `${output}.jpg`],
      does: "ImageMagick's `convert`",
    },
    {
      what: "Page 1 of a PDF, A4 at 144 dpi → PNG",
      original: await corpus.pdf(),
      suffix: "png",
      box: { width: 1191, height: 1685 },
      program: "pdftoppm",
      args: (input, output) => ["-png", "-singlefile", "-f", "1", "-l", "1", "-r", "144", input, output],
      does: "`pdftoppm`",
    },
    {
      what: "SVG, 1600 × 1200, 1500 paths → 1500 px PNG",
      original: await corpus.svg(),
      suffix: "png",
      box: { width: 1500, height: 1126 },
      program: "rsvg-convert",
      args: (input, output) => ["--width", "1500", "--height", "1125", "--output", `${output}.png`, input],
      does: "`rsvg-convert`",
    },
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {Conversion} conversion
 * @param {string} program
 * @returns {Promise<Line>}
 */
async function compareWith(bench, server, { what, original, suffix, box, args, does }, program) {
  const { rounds, mode } = bench.settings;
  const id = await upload(server, original);
  const output = join(original.directory, "made");
  // Each is a separate rendition, one pixel smaller than the previous one. The first has the program's size.
  let less = 0;
  const nextPath = () => addressOf(id, `?resize=${box.width - less++}x${box.height}`, suffix);
  const calls = {
    async ours() {
      const path = nextPath();
      const { status } = await get(server, path);
      bench.checks.that(`${path}: ${status}`, status === 200);
    },
    theirs: () => runProgram(program, args(original.file, output)),
  };
  await calls.theirs();
  await checkRendition(bench, server, nextPath(), await readFile(`${output}.${suffix}`));

  /** @type {Record<"ours" | "theirs", number[]>} */
  const micros = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      micros[name].push(await medianMicros(calls[name], CALLS[mode]));
    }
  }
  return compare({
    what: `${what}, time`,
    peer: `${does}, the process`,
    ...micros,
    format: formatMicros,
    aim: { atMost: original.type === "image/svg+xml" ? 0.9 : 1 },
  });
}

/**
 * The median time of calls, one after the other.
 * @param {() => Promise<unknown>} call
 * @param {number} count
 */
async function medianMicros(call, count) {
  /** @type {number[]} */
  const walls = [];
  for (let index = 0; index < count; index++) {
    const begun = performance.now();
    await call();
    walls.push((performance.now() - begun) * 1000);
  }
  return median(walls);
}

/**
 * Checks that it is the picture that the program made, and that a repeated request costs next to nothing.
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {string} path
 * @param {Buffer} expected
 */
async function checkRendition({ checks, settings }, server, path, expected) {
  const cold = await timedGet(server, path);
  checks.that(`${path}: ${cold.status}`, cold.status === 200);
  await checks.alike(path, cold.body, expected);
  const again = await timedGet(server, path);
  checks.that(
    `${path} again: other bytes, or another tag`,
    again.headers.etag === cold.headers.etag && again.body.equals(cold.body),
  );
  // A render of a few milliseconds proves nothing about the cache.
  if (settings.mode !== "smoke") {
    checks.that(
      `${path} again: ${again.ms.toFixed(1)} ms after ${cold.ms.toFixed(1)} ms`,
      again.ms < cold.ms * CACHED_SHARE,
    );
  }
}

/**
 * @param {ServerProcess} server
 * @param {string} path
 */
async function timedGet(server, path) {
  const begun = performance.now();
  const answer = await get(server, path);
  return { ...answer, ms: performance.now() - begun };
}
