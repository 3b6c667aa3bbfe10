import { addressOf, upload } from "../src/client.mjs";
import { measure, watchMemory } from "../src/measure.mjs";
import { compare, formatMegabytes } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Picture } from "../src/corpus.mjs" */
/** @import { Contestant } from "../src/measure.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

const TURNS = { full: 12, quick: 8, smoke: 2 };
/** A rendition is still being stored after the reply. */
const SETTLE_MS = 150;
const MAX_MEMORY_BYTES = 250_000_000;

/** Photographs resized to about a width, each time to one not requested before. */
export async function measureRow(/** @type {Bench} */ bench) {
  const { corpus } = bench;
  const large = { what: "4000 × 3000 JPEG → 800 px, cold, Express 5", picture: await corpus.photo() };
  const middle = { what: "2000 × 1333 JPEG → 500 px, cold, Express 5", picture: await corpus.middle() };
  const first = await compareWidths(bench, large, 750, { sharp: 1.06, ipx: 0.9 });
  const second = await compareWidths(bench, middle, 450, { sharp: 1.1 });
  return [
    ...first.lines,
    ...second.lines,
    compare({
      what: `${middle.what}: peak memory, all processes`,
      ours: [second.peakBytes],
      peer: "250 MB",
      theirs: [MAX_MEMORY_BYTES],
      format: formatMegabytes,
      atMost: 1,
    }),
  ];
}

const PEERS = { sharp: "bare handler, `sharp` in the process", ipx: "ipx" };

/**
 * @param {Bench} bench
 * @param {{ what: string, picture: Picture }} of
 * @param {number} width
 * @param {{ sharp?: number, ipx?: number }} aims
 */
async function compareWidths(bench, { what, picture }, width, aims) {
  const { mode } = bench.settings;
  const first = mode === "smoke" ? 400 : width;
  const ours = await bench.start("outrigger inExpress");
  const id = await upload(ours, picture);
  const memory = watchMemory(ours);
  const sharp = await bench.start("resizers sharpInExpress", { file: picture.file });
  const ipx = await bench.start("resizers ipxInExpress", { directory: picture.directory });
  const samples = await measure(
    bench,
    {
      ours: await resizing(bench, ours, first, (width) => addressOf(id, `?resize=${width}x`)),
      sharp: await resizing(bench, sharp, first, (width) => `/resized.jpg?width=${width}`),
      ipx: await resizing(bench, ipx, first, (width) => `/ipx/w_${width},q_90/file.jpg`),
    },
    // One after the other: concurrency is measured elsewhere.
    { connections: 1, turns: TURNS, settleMs: SETTLE_MS },
  );
  const peakBytes = memory.stop();
  for (const server of [ours, sharp, ipx]) await server.stop();
  const lines = /** @type {const} */ (["sharp", "ipx"]).map((peer) => {
    const aim = aims[peer] === undefined ? {} : { atMost: aims[peer] };
    return compare({ what, ours: samples.ours, peer: PEERS[peer], theirs: samples[peer], ...aim });
  });
  return { lines, peakBytes };
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {number} first
 * @param {(width: number) => string} pathOf
 * @returns {Promise<Contestant>}
 */
async function resizing(bench, server, first, pathOf) {
  // All contestants use the same widths.
  let width = first;
  await bench.checks.resized(server, pathOf(width), width);
  return {
    server,
    requests: (count) => Array.from({ length: count }, () => ({ path: pathOf(++width), status: 200 })),
  };
}
