import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { addressOf, get, upload } from "../src/client.mjs";
import { findProgram } from "../src/programs.mjs";
import { compare } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Picture } from "../src/corpus.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;

/**
 * @typedef {object} Conversion
 * @property {string} what
 * @property {(program: string) => Promise<Picture>} original
 * @property {string} suffix
 * @property {{ width: number, height: number }} box Its width is the rendition's, its height more than the rendition's.
 * @property {"convert" | "pdftoppm" | "rsvg-convert"} program
 * @property {(input: string, output: string) => string[]} args Of the program, to make the same. `output` has no suffix.
 * @property {number} atMost
 */

/**
 * Documents as pictures: a warm service that makes one new rendition after the other, against the whole process of a
 * program that does the same.
 */
export async function measureRow(/** @type {Bench} */ bench) {
  const server = await bench.start("outrigger inExpress", { maxUploadBytes: MAX_UPLOAD_BYTES });
  const lines = [];
  for (const conversion of conversions(bench)) {
    const program = findProgram(conversion.program);
    if (program === null)
      console.log(`documents: no ${conversion.program} on the PATH, its lines are left out`);
    else lines.push(await compareWith(bench, server, conversion, program));
  }
  return lines;
}

/** @param {Bench} bench @returns {Conversion[]} */
function conversions({ corpus, settings }) {
  const psdWidth = settings.mode === "smoke" ? 200 : 800;
  return [
    {
      what: `PSD, 3000 × 2000, layered → ${psdWidth} px JPEG`,
      original: (convert) => corpus.psd(convert),
      suffix: "jpg",
      box: { width: psdWidth, height: psdWidth },
      program: "convert",
      // Only the merged picture, which is also what Outrigger reads.
      args: (input, output) => [`${input}[0]`, "-resize", `${psdWidth}x`, "-quality", "90", `${output}.jpg`],
      atMost: 1,
    },
    {
      what: "Page 1 of a PDF, A4 at 144 dpi → PNG",
      original: () => corpus.pdf(),
      suffix: "png",
      box: { width: 1191, height: 1685 },
      program: "pdftoppm",
      args: (input, output) => ["-png", "-singlefile", "-f", "1", "-l", "1", "-r", "144", input, output],
      atMost: 1,
    },
    {
      what: "SVG, 1600 × 1200, 1500 paths → 1500 px PNG",
      original: () => corpus.svg(),
      suffix: "png",
      box: { width: 1500, height: 1126 },
      program: "rsvg-convert",
      args: (input, output) => ["--width", "1500", "--height", "1125", "--output", `${output}.png`, input],
      atMost: 0.9,
    },
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {Conversion} conversion
 * @param {string} program
 */
async function compareWith(bench, server, conversion, program) {
  const { what, suffix, box, args, atMost } = conversion;
  const { rounds } = bench.settings;
  const original = await conversion.original(program);
  const id = await upload(server, original);
  const output = join(original.directory, "made");
  // Each is a separate rendition, one pixel smaller than the previous one. The first has the program's size.
  let less = 0;
  const calls = {
    async ours() {
      const path = addressOf(id, `?resize=${box.width - less++}x${box.height}`, suffix);
      const { status, body } = await get(server, path);
      bench.checks.that(`${path}: ${status}`, status === 200);
      return body;
    },
    theirs: () => promisify(execFile)(program, args(original.file, output)),
  };
  await calls.theirs();
  await bench.checks.alike(what, await calls.ours(), await readFile(`${output}.${suffix}`));

  /** @type {Record<"ours" | "theirs", number[]>} */
  const micros = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round++) {
    micros.ours.push(await microsOf(calls.ours));
    micros.theirs.push(await microsOf(calls.theirs));
  }
  return compare({
    what: `${what}, time`,
    peer: `\`${conversion.program}\`, the process`,
    ...micros,
    atMost,
  });
}

/** @param {() => Promise<unknown>} call */
async function microsOf(call) {
  const begun = performance.now();
  await call();
  return (performance.now() - begun) * 1000;
}
