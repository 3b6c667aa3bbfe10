import { addressOf, upload } from "../src/client.mjs";
import { measure } from "../src/measure.mjs";
import { compare, formatMicros } from "../src/report.mjs";

/** @import { Bench } from "../src/bench.mjs" */
/** @import { Contestant } from "../src/measure.mjs" */
/** @import { ServerProcess } from "../src/server-process.mjs" */

/** One after the other: concurrency is measured elsewhere. */
const CONNECTIONS = 1;
const TURN_REQUESTS = { full: 12, quick: 8, smoke: 2 };
/** A rendition is still being stored after the reply. */
const SETTLE_MS = 150;

/** A photograph of 4000 × 3000 pixels resized to about 800, each time to a width not requested before. */
export async function cold(/** @type {Bench} */ bench) {
  const photo = await bench.corpus.photo();
  const ours = await bench.start("outrigger-express");
  const id = await upload(ours, photo);
  const bare = await bench.start("outrigger-express", { renderer: { sandbox: "off" } });
  const bareId = await upload(bare, photo);
  const samples = await measure(
    bench,
    {
      ours: await resizing(bench, ours, (width) => addressOf(id, `?resize=${width}x`)),
      bare: await resizing(bench, bare, (width) => addressOf(bareId, `?resize=${width}x`)),
      sharp: await resizing(
        bench,
        await bench.start("express-sharp", { file: photo.file }),
        (width) => `/resized.jpg?width=${width}`,
      ),
      ipx: await resizing(
        bench,
        await bench.start("express-ipx", { directory: photo.directory }),
        (width) => `/ipx/w_${width},q_90/file.jpg`,
      ),
    },
    { connections: CONNECTIONS, turnRequests: TURN_REQUESTS[bench.settings.mode], settleMs: SETTLE_MS },
  );
  const what = "4000 × 3000 JPEG → 800 px, cold, Express 5";
  const line = { what, ours: samples.ours, format: formatMicros };
  return [
    compare({
      ...line,
      peer: "bare handler, `sharp` in the process",
      theirs: samples.sharp,
    }),
    compare({
      ...line,
      what: `${what}, sandbox off`,
      ours: samples.bare,
      peer: "bare handler, `sharp` in the process",
      theirs: samples.sharp,
      aim: { atMost: 1.06 },
    }),
    compare({ ...line, peer: "ipx", theirs: samples.ipx, aim: { atMost: 1 } }),
  ];
}

/**
 * @param {Bench} bench
 * @param {ServerProcess} server
 * @param {(width: number) => string} pathOf
 * @returns {Promise<Contestant>}
 */
async function resizing(bench, server, pathOf) {
  // All contestants use the same widths.
  let width = bench.settings.mode === "smoke" ? 400 : 750;
  await bench.checks.resized(server, pathOf(width), width);
  return {
    server,
    requests: (count) => Array.from({ length: count }, () => ({ path: pathOf(++width), status: 200 })),
  };
}
