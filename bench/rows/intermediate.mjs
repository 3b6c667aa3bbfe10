import { addressOf, get, upload } from "../src/client.mjs";
import { compare, formatMicros } from "../src/report.mjs";
import { median } from "../src/statistics.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Picture } from "../src/corpus.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const CALLS = { full: 7, quick: 5, smoke: 1 };
const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;
/** An intermediate is still being stored after the reply. */
const SETTLE_MS = 300;
/** The first width, and the step from call to call. */
const FIRST_WIDTH = 320;
const WIDTH_STEP = 13;
const NAMES = /** @type {const} */ (["ours", "theirs"]);

/**
 * Second and further sizes of expensive originals, from the intermediate and directly: one after the other, as JPEG.
 */
export async function intermediate(/** @type {Bench} */ bench) {
  const { corpus } = bench;
  const options = { maxUploadBytes: MAX_UPLOAD_BYTES };
  const servers = {
    ours: await bench.start("outrigger-express", options),
    theirs: await bench.start("outrigger-express", { ...options, renderer: { intermediates: false } }),
  };
  /** @type {[what: string, make: () => Promise<Picture>][]} */
  const originals = [
    ["PNG of 12 megapixels", () => corpus.png()],
    ["Page 1 of a PDF, A4", () => corpus.pdf()],
  ];
  const lines = [];
  for (const [what, make] of bench.settings.mode === "smoke" ? originals.slice(1) : originals) {
    lines.push(
      compare({
        what: `${what}, further sizes from 320 px up`,
        peer: "directly, `intermediates: false`",
        ...(await furtherSizes(bench, servers, await make())),
        format: formatMicros,
        aim: { atMost: 0.25 },
      }),
    );
  }
  return lines;
}

/**
 * @param {Bench} bench
 * @param {Record<"ours" | "theirs", ServerProcess>} servers
 * @param {Picture} original
 */
async function furtherSizes(bench, servers, original) {
  const { mode, rounds } = bench.settings;
  const ids = { ours: await upload(servers.ours, original), theirs: await upload(servers.theirs, original) };
  const widths = { ours: FIRST_WIDTH, theirs: FIRST_WIDTH };
  const next = async (/** @type {"ours" | "theirs"} */ name) => {
    widths[name] += WIDTH_STEP;
    const path = addressOf(ids[name], `?resize=${widths[name]}x${widths[name]}`, "jpg");
    const begun = performance.now();
    const { status, body } = await get(servers[name], path);
    const micros = (performance.now() - begun) * 1000;
    bench.checks.that(`${path}: ${status}`, status === 200);
    return { micros, body };
  };
  // The first request makes the intermediate.
  for (let warmUp = 0; warmUp < 2; warmUp++) {
    const [ours, theirs] = [await next("ours"), await next("theirs")];
    bench.checks.that("from the intermediate: other bytes", ours.body.equals(theirs.body));
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  }
  const turns = { ours: /** @type {number[]} */ ([]), theirs: /** @type {number[]} */ ([]) };
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      /** @type {number[]} */
      const calls = [];
      for (let call = 0; call < CALLS[mode]; call++) calls.push((await next(name)).micros);
      turns[name].push(median(calls));
    }
  }
  return turns;
}
